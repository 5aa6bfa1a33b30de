import { createSocket } from 'node:dgram'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { openFreshLab } from '../support/lab.ts'

let lab: Lab
let a: Host
let b: Host
let c: Host

beforeAll(async () => {
  lab = await openFreshLab('partition')
  await lab.up(['a', 'b', 'c'])
  ;[a, b, c] = await Promise.all([lab.host('a'), lab.host('b'), lab.host('c')])
})
afterEach(async () => lab.rejoin())
afterAll(async () => lab.down())

/**
 * True if a datagram from one host arrives at another. Replies are not needed, so each direction is tested
 * alone. A last datagram from the gateway, which is never partitioned, ends the wait.
 */
async function arrives(from: Host, to: Host): Promise<boolean> {
  const port = 9999
  const received = to.script(`pipe=$(mktemp -u)
    mkfifo "$pipe"
    timeout 30 socat -u UDP4-RECV:${port} STDOUT > "$pipe" & listener=$!
    sed /over/q < "$pipe"
    kill "$listener"
    rm "$pipe"`)
  const listening = async (): Promise<boolean> =>
    (await to.exec(['ss', '-Hlun', `sport = :${port}`])).stdout !== ''
  await pollUntil('the listener', listening, { timeoutMs: 20_000 })
  await from.script(`echo ${from.name} | socat -u - UDP4:${to.address}:${port}`)
  await sendFromMachine('over\n', to.address, port)
  return (await received).stdout.includes(from.name)
}

async function sendFromMachine(text: string, address: string, port: number): Promise<void> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve, reject) => {
    socket.send(text, port, address, (error) => (error === null ? resolve() : reject(error)))
  })
  socket.close()
}

async function checkDirections(): Promise<Record<string, boolean>> {
  return {
    'a→b': await arrives(a, b),
    'b→a': await arrives(b, a),
    'a→c': await arrives(a, c),
    'c→b': await arrives(c, b),
  }
}

test('without a partition every direction is open', async () => {
  expect(await checkDirections()).toEqual({ 'a→b': true, 'b→a': true, 'a→c': true, 'c→b': true })
})

test('a one-way partition drops packets from a to b only', async () => {
  await lab.partition(a, [b], { oneWay: true })
  expect(await checkDirections()).toEqual({ 'a→b': false, 'b→a': true, 'a→c': true, 'c→b': true })
})

test('a partition drops packets between a and b in both directions', async () => {
  await lab.partition(a, [b])
  expect(await checkDirections()).toEqual({ 'a→b': false, 'b→a': false, 'a→c': true, 'c→b': true })
})

test('rejoin opens every direction again', async () => {
  await lab.partition(a, [b, c])
  expect(await arrives(a, c)).toBe(false)
  await lab.rejoin()
  expect(await checkDirections()).toEqual({ 'a→b': true, 'b→a': true, 'a→c': true, 'c→b': true })
})

test('a partition persists after a crash of the host', async () => {
  await lab.partition(a, [b])
  await a.crash()
  await lab.start('a')
  expect(await checkDirections()).toEqual({ 'a→b': false, 'b→a': false, 'a→c': true, 'c→b': true })
})
