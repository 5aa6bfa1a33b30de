import { settleAll } from '../kit/settle-all.ts'

/** Works on all items, on no more than `limit` at once. Answers in order, or fails with every reason when all have ended. */
export async function mapAtMost<T, R>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const answers: Promise<R>[] = []
  // One iterator for all: whoever is free takes the next item.
  const queue = items.values()
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      const answer = work(item)
      answers.push(answer)
      await answer.catch(() => undefined)
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
  return settleAll(answers)
}
