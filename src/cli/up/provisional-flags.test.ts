import { expect, test } from 'vitest'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { parseSlotFlag, parseProvisionalFlag } from './provisional-flags.ts'

test('a provisional change lasts a minute at least and a day at most', () => {
  expect([parseProvisionalFlag('1m'), parseProvisionalFlag('1h30m'), parseProvisionalFlag('1d')]).toEqual([
    60_000, 5_400_000, 86_400_000,
  ])
  for (const text of ['59s', '25h'])
    expect(() => parseProvisionalFlag(text)).toThrow('must be between 1m and 24h')
  expect(() => parseProvisionalFlag('soon')).toThrow('10m')
  expect(parseSlotFlag('5s')).toBe(5000)
  expect(() => parseSlotFlag('2h')).toThrow('the maximum is 1h')
  expect(() => parseSlotFlag('')).toThrow('30s')
})

test('an invalid --provisional duration and an unknown subcommand are usage errors', async () => {
  expect(await runHyperkube('up --provisional 10s')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('must be between 1m and 24h'),
  })
  expect(await runHyperkube('provisional forget')).toMatchObject({ code: 2 })
})
