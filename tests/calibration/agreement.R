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

clipped_at <- function(v, reach) pmax(-reach, pmin(reach, v))

movements <- function(n) if (n < 12) 0 else 1 + max(0, n %/% 24 - 1)

basis <- function(n) { # a constant, a line, slow cosines
  place <- seq_len(n) - 1
  columns <- matrix(1, n, 1)
  if (movements(n) > 0) columns <- cbind(columns, place - mean(place))
  for (wave in seq_len(max(0, movements(n) - 1)))
    columns <- cbind(columns, cos(pi * wave * (place + 0.5) / n))
  qr.Q(qr(columns))
}

slow_part <- function(v, q) drop(q %*% crossprod(q, v))

spread <- function(v) {
  s <- 1.4826 * median(abs(v))
  if (s <= 1e-12) s <- max(abs(v)) / 2
  if (s <= 1e-12) Inf else s
}

weights_of <- function(r) {
  n <- length(r)
  v <- r - mid_mean(r)
  if (movements(n) > 0) {
    slow <- rep(0, n)
    for (fit in 1:3) {
      rest <- v - slow
      rest <- rest - mid_mean(rest)
      slow <- slow + slow_part(clipped_at(rest, 2 * spread(rest)), basis(n))
    }
    v <- v - slow - mid_mean(v - slow)
  }
  phi <- 0
  d <- v - mean(v)
  if (n >= 16 && sum(d^2) > 0) phi <- sum(d[-1] * d[-n]) / sum(d^2) + 1.5 / n
  if (phi < 0.25 && phi > -max(0.25, 2 / sqrt(n))) phi <- 0
  phi <- clipped_at(phi, 0.95)
  fresh <- v - phi * c(0, v[-n])
  fresh <- fresh - mid_mean(fresh)
  psi <- clipped_at(fresh / (2 * spread(fresh)), 1)
  round(2^14 * (psi - phi * c(psi[-1], 0)))
}

spent <- function(n, alpha) {
  if (n <= BUDGET) return(alpha * (0.36 + 0.54 * log(n / FIRST) / log(BUDGET / FIRST)))
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
crossing <- function(y, other, z, delta, alpha) {
  r <- y - delta * other
  alive <- rep(TRUE, nrow(z))
  used <- 0
  heights <- NULL
  later <- function() { # all looks but the first in one product; most ratios do not need them
    if (is.null(heights)) heights <<- z %*% sapply((FIRST + 1):length(y), function(n)
      c(weights_of(r[1:n]), rep(0, length(y) - n)))
    heights
  }
  for (n in FIRST:length(y)) {
    k <- floor(spent(n, alpha) * nrow(z) + 1e-9) - used
    if (k <= 0) next
    height <- if (n == FIRST) drop(z[, 1:n] %*% weights_of(r[1:n])) else later()[, n - FIRST]
    left <- height[alive]
    at <- length(left) - k
    over <- alive & height > sort(left, partial = at)[at] # strictly: ties never cross
    used <- used + sum(over)
    alive <- alive & !over
    if (!alive[1]) return(n)
  }
  NA
}

# The second test: Welch's, beside slow movements, with a boundary of its own.

levels_of <- function(alpha, last) { # one-sided probability at each look, for sums of normal steps
  step <- 0.1
  sums <- seq(-100, 100, step)
  kernel <- dnorm(seq(-7, 7, step)) * step
  density <- dnorm(sums / sqrt(FIRST)) / sqrt(FIRST)
  found <- c()
  before <- 0
  for (n in FIRST:last) {
    if (n > FIRST) {
      whole <- convolve(density, rev(kernel), type = "open")
      density <- whole[70 + seq_along(sums)]
    }
    allowed <- alpha * (0.15 + 0.65 * log(n / FIRST) / log(BUDGET / FIRST))
    above <- cumsum(rev(density)) * step # mass from the lower edge of each cell on, from the top
    boundary <- approx(above, rev(sums - step / 2), allowed - before, ties = "ordered")$y
    density[sums >= boundary] <- 0
    found <- c(found, pnorm(boundary / sqrt(n), lower.tail = FALSE))
    before <- allowed
  }
  found
}

contrast <- function(y, other) { # difference, standard error, degrees of freedom
  n <- length(y)
  arms <- list(other == 1, other == 0)
  columns <- cbind(basis(n), other - 0.5) # least squares beside slow movements, the label last
  hat_of <- function(x) x %*% solve(crossprod(x), t(x))
  reach_of <- function(rest) {
    reach <- rep(Inf, n)
    for (arm in arms) {
      s <- 2.5 * 1.4826 * median(abs(rest[arm]))
      if (s > 0) reach[arm] <- s
    }
    reach
  }
  stalled <- rep(FALSE, n)
  if (n >= 12) {
    hat <- hat_of(columns)
    fitted <- rep(0, n)
    for (arm in arms) fitted[arm] <- median(y[arm])
    fitted <- drop(hat %*% (fitted + clipped_at(y - fitted, reach_of(y - fitted))))
    reach <- reach_of(y - fitted)
    for (fit in 1:5) fitted <- drop(hat %*% (fitted + clipped_at(y - fitted, reach)))
    stalled <- abs(y - fitted) >= reach
    y <- fitted + clipped_at(y - fitted, reach)
    rest <- y - drop(hat %*% y)
    if (n >= 16 && sum(rest^2) > 0) {
      phi <- sum(rest[-1] * rest[-n]) / sum(rest^2) + 1.5 / n
      if (abs(phi) >= max(0.25, 2 / sqrt(n))) {
        phi <- clipped_at(phi, 0.95)
        whitened <- function(v) c(v[1] * sqrt(1 - phi^2), v[-1] - phi * v[-n])
        columns <- apply(columns, 2, whitened)
        y <- whitened(y)
      }
    }
  }
  hat <- hat_of(columns)
  influence <- solve(crossprod(columns), t(columns))[ncol(columns), ]
  shares <- (y - drop(hat %*% y))^2 / pmax(1 - diag(hat), 1e-9) * influence^2
  variance <- freedom <- c()
  for (arm in arms) {
    free <- max(sum(arm & !stalled), 1)
    variance <- c(variance, sum(shares[arm]) * (sum(arm) / free)^2)
    freedom <- c(freedom, max(free - 1 - movements(n) / n * sum(arm), 1))
  }
  c(sum(influence * y), sqrt(sum(variance)), sum(variance)^2 / sum(variance^2 / freedom))
}

lows <- function(y, other, alpha) { # below these all ratios are out, after each look
  level <- levels_of(alpha, length(y))
  found <- sapply(FIRST:length(y), function(n) {
    if (min(sum(other[1:n]), sum(1 - other[1:n])) < 2) return(-Inf)
    k <- contrast(y[1:n], other[1:n])
    k[1] - qt(level[n - FIRST + 1], k[3], lower.tail = FALSE) * k[2]
  })
  cummax(found)
}

grid <- function() {
  right <- MARGIN * (0:40) / 8
  while (max(right) < 8) right <- c(right, max(right) * 1.25)
  c(-rev(right[-1]), right)
}

# The end below all that both tests still allow, and the look by which all up to `upto` were out.
# side -1 asks the same of the mirrored study: high ends as low ones.
scan <- function(y, other, z, side, alpha, upto) {
  y <- side * y
  second <- lows(y, other, alpha)
  looks <- c()
  end <- NA
  for (delta in grid()) {
    look <- crossing(y, other, z, delta, alpha)
    if (is.na(look)) break
    looks <- c(looks, look)
    end <- delta
  }
  if (is.infinite(max(second))) end <- NA
  wanted <- sum(grid() <= upto + 1e-12)
  beyond <- which(second > upto)
  at <- NA
  if (length(looks) >= wanted && length(beyond) > 0)
    at <- max(looks[1:wanted], FIRST - 1 + beyond[1])
  list(end = side * min(end, max(second)), at = at)
}

judge <- function(trials, design) {
  y <- log(trials$response)
  other <- as.numeric(trials$system == "B")
  draw <- if (design == "pairs") pairs_of else big_stick
  z <- rbind(2 * other - 1, draw(length(y), PATHS))
  up <- scan(y, other, z, 1, ALPHA / 2, 0)
  down <- scan(y, other, z, -1, ALPHA / 2, 0)
  low <- scan(y, other, z, 1, ALPHA, -MARGIN)
  high <- scan(y, other, z, -1, ALPHA, -MARGIN)
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
