// Shows the path of a file above its text. In the sources it follows the language on the opening fence.
for (const code of document.querySelectorAll("pre > code[class*='language-']")) {
  const path = [...code.classList].find((name) => /[./]/.test(name) && !name.startsWith("language-"));
  if (!path) continue;
  const name = document.createElement("div");
  name.className = "file-name";
  name.textContent = path;
  code.parentElement.before(name);
}
