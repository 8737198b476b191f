# `.ci/release` writes the version and the checksums; CONTRIBUTING.md, "Releasing", says where the formula goes.
class Kubebench < Formula
  desc "Benchmarks on Kubernetes from git, with a gate that finds regressions"
  homepage "https://github.com/kubebench/kubebench"
  version "VERSION"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "DOWNLOADS/kubebench-VERSION-aarch64-apple-darwin.tar.gz"
      sha256 "SHA256 aarch64-apple-darwin"
    end
  end

  on_linux do
    on_arm do
      url "DOWNLOADS/kubebench-VERSION-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "SHA256 aarch64-unknown-linux-gnu"
    end
    on_intel do
      url "DOWNLOADS/kubebench-VERSION-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "SHA256 x86_64-unknown-linux-gnu"
    end
  end

  def install
    bin.install "kubebench"
    generate_completions_from_executable(bin/"kubebench", "completions")
  end

  test do
    assert_equal "kubebench #{version}", shell_output("#{bin}/kubebench --version").chomp
    system "git", "init"
    system bin/"kubebench", "init"
    system bin/"kubebench", "compile", "--check"
  end
end
