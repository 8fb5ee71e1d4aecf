# Judges two systems as docs/methods/judge.md says, written from the text alone. Base R, no packages.
# It shares no code, no random numbers and no simulated orders with the judge it checks.
#
#   Rscript agreement.R FOLDER [FILE ...]     (FOLDER/studies.csv names files and designs)
#
# prints CSV: file, words, visits at the stop, ends of the 95 % interval and of the 90 % one, as
# natural logarithms of B over A. NA: not bounded, or no word.

ALPHA <- 0.05; MARGIN <- log(1.02); BUDGET <- 96; PATHS <- 20000; FIRST <- 8

mid_mean <- function(v) { # of the middle half
  k <- length(v) %/% 4
  mean(sort(v)[(k + 1):(length(v) - k)])
}

weights_of <- function(r) {
  n <- length(r)
  phi <- 0
  d <- r - mean(r)
  if (n >= 16 && sum(d^2) > 0) phi <- sum(d[-1] * d[-n]) / sum(d^2) + 1.5 / n
  if (n < 16 || phi < 0.25) phi <- 0
  phi <- min(phi, 0.95)
  centred <- r - mid_mean(r)
  fresh <- centred - phi * c(0, centred[-n])
  fresh <- fresh - mid_mean(fresh)
  s <- 1.4826 * median(abs(fresh))
  if (s == 0) s <- max(abs(fresh)) / 2
  if (s == 0) return(rep(0, n))
  psi <- pmax(-1, pmin(1, fresh / (2 * s)))
  round(2^14 * (psi - phi * c(psi[-1], 0)))
}

spent <- function(n, alpha) {
  if (n <= BUDGET) return(alpha * max(0.36, 0.9 * log(n / 7) / log(BUDGET / 7)))
  alpha * (0.9 + 0.1 * min(1, log(n / BUDGET) / log(2)))
}

big_stick <- function(n, count) { # a fair coin, but the other when one leads by two
  lead <- rep(0, count)
  z <- matrix(0, count, n)
  for (i in 1:n) {
    z[, i] <- ifelse(abs(lead) == 2, -sign(lead), sample(c(-1, 1), count, replace = TRUE))
    lead <- lead + z[, i]
  }
  z
}

pairs_of <- function(n, count) { # each pair in one of its two orders
  first <- matrix(sample(c(-1, 1), count * ceiling(n / 2), replace = TRUE), count)
  z <- matrix(0, count, 2 * ncol(first))
  z[, seq(1, ncol(z), 2)] <- first
  z[, seq(2, ncol(z), 2)] <- -first
  z[, 1:n, drop = FALSE]
}

# The look at which the test of one ratio crosses, NA if none does. Row 1 of z is the observed order.
crossing <- function(y, other, z, delta, side, alpha) {
  r <- y - delta * other
  alive <- rep(TRUE, nrow(z))
  used <- 0
  for (n in FIRST:length(y)) {
    k <- floor(spent(n, alpha) * nrow(z) + 1e-9) - used
    if (k <= 0) next
    height <- side * drop(z[, 1:n] %*% weights_of(r[1:n]))
    left <- height[alive]
    at <- length(left) - k
    over <- alive & height > sort(left, partial = at)[at] # strictly: ties never cross
    used <- used + sum(over)
    alive <- alive & !over
    if (!alive[1]) return(n)
  }
  NA
}

grid <- function() {
  right <- MARGIN * (0:40) / 8
  while (max(right) < 8) right <- c(right, max(right) * 1.25)
  c(-rev(right[-1]), right)
}

# From the far end of the grid: the last ratio before the first that is still allowed, and the look
# by which all up to `upto` were out.
scan <- function(y, other, z, side, alpha, upto) {
  g <- if (side > 0) grid() else rev(grid())
  looks <- c()
  end <- NA
  for (delta in g) {
    look <- crossing(y, other, z, delta, side, alpha)
    if (is.na(look)) break
    looks <- c(looks, look)
    end <- delta
  }
  wanted <- if (side > 0) sum(g <= upto + 1e-12) else sum(g >= upto - 1e-12)
  list(end = end, at = if (length(looks) >= wanted) max(looks[1:wanted]) else NA)
}

judge <- function(trials, design) {
  y <- log(trials$response)
  other <- as.numeric(trials$system == "B")
  draw <- if (design == "pairs") pairs_of else big_stick
  z <- rbind(2 * other - 1, draw(length(y), PATHS))
  up <- scan(y, other, z, 1, ALPHA / 2, 0)
  down <- scan(y, other, z, -1, ALPHA / 2, 0)
  low <- scan(y, other, z, 1, ALPHA, -MARGIN)
  high <- scan(y, other, z, -1, ALPHA, MARGIN)
  at <- c(faster = up$at, slower = down$at, equivalent = max(low$at, high$at))
  stop <- if (all(is.na(at))) NA else min(at, na.rm = TRUE)
  words <- names(at)[!is.na(at) & at == stop]
  list(words = paste(words, collapse = "+"), stop = stop, low = up$end, high = down$end,
       low90 = low$end, high90 = high$end)
}

arguments <- commandArgs(trailingOnly = TRUE)
studies <- read.csv(file.path(arguments[1], "studies.csv"))
studies$seed <- 5417 + seq_len(nrow(studies))
if (length(arguments) > 1) studies <- studies[studies$file %in% arguments[-1], ]
cat("file,words,stop,low,high,low90,high90\n")
for (i in seq_len(nrow(studies))) {
  set.seed(studies$seed[i])
  v <- judge(read.csv(file.path(arguments[1], studies$file[i])), studies$design[i])
  ends <- sprintf("%.6f", c(v$low, v$high, v$low90, v$high90))
  cat(paste(c(studies$file[i], v$words, v$stop, ends), collapse = ","), "\n", sep = "")
}
