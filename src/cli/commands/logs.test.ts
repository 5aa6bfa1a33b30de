import { expect, test } from 'vitest'
import { bounded, logFlags, whenFlag } from '../logs/flags.ts'
import { hyperkube } from '../testing/run-in-memory.ts'

const made = Object.fromEntries((await hyperkube('init --name shop --host 10.0.0.1=control-plane')).files)

test.each([
  ['logs kublet', 2, 'did you mean kubelet?'],
  ['logs ../etc', 2, 'there is no component ../etc'],
  ['logs --since yesterday', 2, 'write it as 10m'],
  ['logs --lines many', 2, 'write it as a number'],
  ['logs --limit w9', 1, 'LIMIT_UNKNOWN_HOST'],
])('%s is not right', async (words, code, wrong) => {
  const ran = await hyperkube(words, made)
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(wrong)])
})

test('times are told as people do', () => {
  expect(whenFlag('1h30m')).toEqual({ ago: 5_400_000 })
  expect(whenFlag('2026-11-15T12:00:00Z')).toEqual({ at: new Date('2026-11-15T12:00:00Z') })
})

test('whoever says neither how many nor from when gets the last ones, or what was in the last hour', () => {
  expect(bounded(logFlags.parse({}))).toMatchObject({ lines: 100 })
  expect(bounded(logFlags.parse({ grep: 'x' }))).toMatchObject({ since: { ago: 3_600_000 } })
  expect(bounded(logFlags.parse({ since: { ago: 1 } })).lines).toBeUndefined()
})
