#!/usr/bin/env Rscript
# What R says, for the tests of `crates/stats/src`: `Rscript tests/data/stats/tables.R >tests/data/stats/tables.json`.
#
# Made with R 4.2.2 (Debian 12, r-base-core). The data are R's own `sleep` and the examples of `?wilcox.test`: Hollander & Wolfe (1973),
# pages 29 (depression scores of nine patients) and 69 (permeability of membranes).

number <- function(x) ifelse(is.finite(x), sprintf("%.17g", x), "null")
list_of <- function(x) paste0("[", paste(number(x), collapse = ", "), "]")
object <- function(...) { x <- list(...); paste0("{", paste(sprintf("\"%s\": %s", names(x), unlist(x)), collapse = ", "), "}") }
array <- function(x) paste0("[\n  ", paste(x, collapse = ",\n  "), "\n ]")

student <- array(unlist(lapply(c(1:30, 40, 60, 120), function(df)
  lapply(c(0.9, 0.95, 0.975, 0.99, 0.995), function(p) object(p = number(p), df = number(df), quantile = number(qt(p, df)))))))

by_t <- function(x) { said <- t.test(x); object(differences = list_of(x), p = number(said$p.value), interval = list_of(said$conf.int)) }
signs <- function(x) {
  said <- wilcox.test(x, conf.int = TRUE, exact = TRUE)
  object(differences = list_of(x), shift = number(said$estimate), interval = list_of(said$conf.int))
}
groups <- function(first, second) {
  said <- wilcox.test(second, first, conf.int = TRUE, exact = TRUE)
  object(first = list_of(first), second = list_of(second), u = number(said$statistic), p = number(said$p.value),
         shift = number(said$estimate), interval = list_of(said$conf.int))
}
levels <- function(first, second)
  object(first = list_of(first), second = list_of(second), p = number(t.test(first, second, var.equal = TRUE)$p.value))

before <- c(1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30)
after <- c(0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29)
at_term <- c(0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46)
earlier <- c(1.15, 0.88, 0.90, 0.74, 1.21)
one <- sleep$extra[sleep$group == 1]
other <- sleep$extra[sleep$group == 2]
# Without ties, of any length.
spread <- function(n, by) round(((1:n) * by) %% 1 + (1:n) / 1000, 6)

cat("{\n \"student\": ", student, ",\n", sep = "")
cat(" \"byT\": ", array(c(by_t(other - one), by_t(after - before), by_t(c(1, 2)), by_t(c(-0.5, 0.1, 0.3, -0.2, 0.05)))), ",\n", sep = "")
cat(" \"signs\": ", array(c(signs(after - before), unlist(lapply(6:20, function(n) signs(spread(n, 0.618034) - 0.4))))), ",\n", sep = "")
cat(" \"groups\": ", array(c(groups(at_term, earlier), unlist(lapply(list(c(4, 4), c(5, 5), c(4, 7), c(6, 6), c(10, 10), c(20, 25)),
  function(n) groups(spread(n[1], 0.618034), spread(n[2], 0.414214) + 0.2))))), ",\n", sep = "")
cat(" \"levels\": ", array(c(levels(one, other), levels(before, after), levels(at_term, earlier))), "\n}\n", sep = "")
