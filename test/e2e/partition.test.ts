import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { freshLab } from '../support/lab.ts'

let lab: Lab
let a: Host
let b: Host
let c: Host

beforeAll(async () => {
  lab = await freshLab('partition')
  await lab.up(['a', 'b', 'c'])
  ;[a, b, c] = await Promise.all([lab.host('a'), lab.host('b'), lab.host('c')])
})
afterEach(async () => lab.rejoin())
afterAll(async () => lab.down())

/** Whether a datagram of one host arrives at another: nothing comes back, so each way is seen alone. */
async function arrives(from: Host, to: Host): Promise<boolean> {
  const heard = to.script('echo listening >&2; timeout 2 socat -u -T2 UDP4-RECVFROM:9999 - || true', {
    onLine: () => listening.resolve(),
  })
  const listening = Promise.withResolvers<void>()
  await listening.promise
  // The word comes just before socat binds, so a few more are sent than one.
  await from.script(`for i in 1 2 3 4 5; do echo hello | socat -u - UDP4:${to.address}:9999; sleep 0.1; done`)
  return (await heard).stdout.includes('hello')
}

async function seen(): Promise<Record<string, boolean>> {
  return {
    'a→b': await arrives(a, b),
    'b→a': await arrives(b, a),
    'a→c': await arrives(a, c),
    'c→b': await arrives(c, b),
  }
}

test('whole: every way is open', async () => {
  expect(await seen()).toEqual({ 'a→b': true, 'b→a': true, 'a→c': true, 'c→b': true })
})

test('one-way: what a sends to b is lost, what b sends to a arrives, c is not concerned', async () => {
  await lab.partition(a, [b], { oneWay: true })
  expect(await seen()).toEqual({ 'a→b': false, 'b→a': true, 'a→c': true, 'c→b': true })
})

test('both ways: a and b do not hear each other', async () => {
  await lab.partition(a, [b])
  expect(await seen()).toEqual({ 'a→b': false, 'b→a': false, 'a→c': true, 'c→b': true })
})

test('healed: every way is open again', async () => {
  await lab.partition(a, [b, c])
  expect(await arrives(a, c)).toBe(false)
  await lab.rejoin()
  expect(await seen()).toEqual({ 'a→b': true, 'b→a': true, 'a→c': true, 'c→b': true })
})
