import { expect, test } from 'vitest'
import { shareReads } from './share-reads.ts'

test('reads at the same time are shared; later and other reads are not', async () => {
  const queries: string[] = []
  const gate = Promise.withResolvers<void>()
  const read = shareReads(async (query: string) => {
    queries.push(query)
    await gate.promise
    return queries.length
  })
  const both = Promise.all([read('a'), read('a'), read('b')])
  gate.resolve()
  await both
  expect(queries).toEqual(['a', 'b'])
  await read('a')
  expect(queries).toEqual(['a', 'b', 'a'])
})

test('a failed read is not remembered', async () => {
  let fails = true
  const read = shareReads(async (_query: string) => {
    if (fails) throw new Error('unreachable')
    return 'ok'
  })
  await expect(read('a')).rejects.toThrow('unreachable')
  fails = false
  expect(await read('a')).toBe('ok')
})
