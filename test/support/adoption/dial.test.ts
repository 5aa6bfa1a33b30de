import { expect, test } from 'vitest'
import { dial, findPolicyProblems } from './dial.ts'

const respond = (response: object) => async (): Promise<unknown> => response
const connects = respond({ responses: ['vault-0'] })
const isBlocked = respond({ errors: ['Get "http://10.42.1.5:8080/hostname": context deadline exceeded'] })
const fails = async (): Promise<unknown> => Promise.reject(new Error('503 no endpoints available'))

test.each<
  [text: string, allowed: () => Promise<unknown>, forbidden: () => Promise<unknown>, problems: string[]]
>([
  ['an enforced policy', connects, isBlocked, []],
  ['a policy that is not enforced', connects, connects, ['the NetworkPolicy blocks nothing']],
  ['a policy that blocks too much', isBlocked, isBlocked, ['the NetworkPolicy blocks what it allows']],
  [
    'a failed request',
    connects,
    fails,
    ['a pod could not be asked about the NetworkPolicy: 503 no endpoints available'],
  ],
  [
    'an empty response',
    respond({}),
    isBlocked,
    ['a pod could not be asked about the NetworkPolicy: the pod reported nothing'],
  ],
])('%s', async (_, allowed, forbidden, problems) => {
  expect(findPolicyProblems(await dial(allowed), await dial(forbidden), true)).toEqual(problems)
})

test('without an engine of policies, everything connects', async () => {
  expect(findPolicyProblems(await dial(connects), await dial(connects), false)).toEqual([])
})
