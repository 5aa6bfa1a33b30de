import { expect, test } from 'vitest'
import { hyperkube } from '../testing/run-in-memory.ts'
import { slotFlag, trialFlag } from './flags.ts'

test('a trial lasts a minute at least, and a day at most', () => {
  expect([trialFlag('1m'), trialFlag('1h30m'), trialFlag('1d')]).toEqual([60_000, 5_400_000, 86_400_000])
  for (const text of ['59s', '25h']) expect(() => trialFlag(text)).toThrow('a minute is the least')
  expect(() => trialFlag('soon')).toThrow('10m')
  expect(slotFlag('5s')).toBe(5000)
  expect(() => slotFlag('2h')).toThrow('an hour is the most')
  expect(() => slotFlag('')).toThrow('30s')
})

test('what is not a time is said so, and nothing is done', async () => {
  expect(await hyperkube('up --trial 10s')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('a minute is the least, and a day the most'),
  })
  expect(await hyperkube('trial forget')).toMatchObject({ code: 2 })
})
