import { expect, test } from 'vitest'
import { type ExitCode, exitCodes } from '../command/command.ts'
import { rotateInOrder } from './remove-compromised.ts'

const groups = [['kubernetes'], ['service-account']] as const

test.each<[outcome: string, rotate: () => Promise<ExitCode>, expected: string]>([
  ['fails', async () => exitCodes.failure, `ended with ${exitCodes.failure}, unfinished`],
  ['throws', async () => Promise.reject(new Error('no key file')), 'threw no key file, unfinished'],
  ['succeeds', async () => exitCodes.ok, `ended with ${exitCodes.ok}`],
])('if the rotation of a later group %s, the operator sees what remains', async (_, rotate, expected) => {
  let unfinished = ''
  const end = await rotateInOrder(
    groups,
    async ([key]) => (key === 'kubernetes' ? exitCodes.ok : rotate()),
    () => (unfinished += ', unfinished'),
  ).then(
    (code) => `ended with ${code}`,
    (error: unknown) => `threw ${error instanceof Error ? error.message : ''}`,
  )
  expect(`${end}${unfinished}`).toBe(expected)
})
