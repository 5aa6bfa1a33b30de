import { expect, test } from 'vitest'
import { withClusterDeadline } from './cluster-deadline.ts'

const { signal } = new AbortController()

test('work that ends in time is not aborted', async () => {
  expect(await withClusterDeadline(signal, 60_000, async () => 'done')).toBe('done')
})

test('work is aborted at the deadline', async () => {
  const work = async (own: AbortSignal): Promise<never> =>
    new Promise((_, reject) => own.addEventListener('abort', () => reject(own.reason)))
  await expect(withClusterDeadline(signal, 1, work)).rejects.toMatchObject({ code: 'FLEET_CLUSTER_TIMEOUT' })
})

test('work that ignores the abort is abandoned', async () => {
  const hung = async (): Promise<never> => new Promise(() => undefined)
  await expect(withClusterDeadline(signal, 1, hung, 1)).rejects.toMatchObject({
    code: 'FLEET_CLUSTER_TIMEOUT',
  })
})
