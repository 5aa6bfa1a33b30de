import { expect, test } from 'vitest'
import { applyLogDefaults, logFlags, parseTimeFlag } from '../logs/flags.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'

const clusterFiles = Object.fromEntries(
  (await runHyperkube('init --name shop --host 10.0.0.1=control-plane')).files,
)

test.each([
  ['logs kublet', 2, 'Allowed choices are hyperkube-agent'],
  ['logs ../etc', 2, "value '../etc' is invalid"],
  ['logs \u001B[2J', 2, String.raw`value '\u001b[2J' is invalid`],
  ['logs --since yesterday', 2, 'expected a duration or a time such as 10m'],
  ['logs --lines many', 2, 'expected a number from 0 to 1000000'],
  ['logs --limit w9', 2, 'LIMIT_UNKNOWN_HOST'],
])('%s is a usage error', async (words, code, problem) => {
  const ran = await runHyperkube(words, clusterFiles)
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(problem)])
})

test('time flags are durations or timestamps', () => {
  expect(parseTimeFlag('1h30m')).toEqual({ ago: 5_400_000 })
  expect(parseTimeFlag('2026-11-15T12:00:00Z')).toEqual({ at: new Date('2026-11-15T12:00:00Z') })
})

test('the default is the last 100 lines, and with --grep the last hour', () => {
  expect(applyLogDefaults(logFlags.parse({}))).toMatchObject({ lines: 100 })
  expect(applyLogDefaults(logFlags.parse({ grep: 'x' }))).toMatchObject({ since: { ago: 3_600_000 } })
  expect(applyLogDefaults(logFlags.parse({ since: { ago: 1 } })).lines).toBeUndefined()
})
