/** Labels of tests that must not run in parallel with others. */
const serialLabel = /\[(?:Serial|Disruptive)\]/

/**
 * Distributes tests to processes: batches run in sequence, the processes of a batch in parallel. Serial tests
 * come last, in one process.
 */
export function planBatches(
  names: readonly string[],
  parallel: number,
): readonly (readonly (readonly string[])[])[] {
  if (parallel === 1) return [[names]]
  const [serial, others] = [
    names.filter((name) => serialLabel.test(name)),
    names.filter((name) => !serialLabel.test(name)),
  ]
  const shares = Array.from({ length: parallel }, (_, process) =>
    others.filter((_name, index) => index % parallel === process),
  )
  return [shares.filter((share) => share.length > 0), serial.length > 0 ? [serial] : []].filter(
    (batch) => batch.length > 0,
  )
}
