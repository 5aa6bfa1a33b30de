/** Lets one piece of work in after the other, in the order in which they come, however each of them ends. */
export function inTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return async (work) => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
}
