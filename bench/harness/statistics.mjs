/** Medians and percentiles: a machine with neighbours makes means meaningless. */

export function median(values) {
  return percentile(values, 0.5)
}

/** The nearest value that at least this share of the values does not exceed. */
export function percentile(values, share) {
  if (values.length === 0) return Number.NaN
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]
}

export function spread(values) {
  return {
    p50: percentile(values, 0.5),
    p99: percentile(values, 0.99),
    count: values.length,
  }
}
