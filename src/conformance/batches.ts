/** Tests that say of themselves that nothing else may run beside them. */
const alone = /\[(?:Serial|Disruptive)\]/

/**
 * Which tests run in which process: rounds one after the other, and in each of them processes side by side. What has to
 * run alone comes last, in a process of its own.
 */
export function roundsOf(
  names: readonly string[],
  parallel: number,
): readonly (readonly (readonly string[])[])[] {
  if (parallel === 1) return [[names]]
  const [serial, others] = [
    names.filter((name) => alone.test(name)),
    names.filter((name) => !alone.test(name)),
  ]
  const dealt = Array.from({ length: parallel }, (_, process) =>
    others.filter((_name, index) => index % parallel === process),
  )
  return [dealt.filter((hand) => hand.length > 0), serial.length > 0 ? [serial] : []].filter(
    (round) => round.length > 0,
  )
}
