import { expect, test } from 'vitest'
import type { Hop } from './hop.ts'
import type { SshRoute } from './ssh-route.ts'
import { explainSystemError, findHop, readLastMessage } from './system-master.ts'

const hop: Hop = {
  name: 'cp1',
  alias: '10.0.0.5',
  address: '10.0.0.5',
  port: 22,
  user: 'root',
  keys: [],
  onlyKeys: false,
}
const bastion: Hop = { ...hop, name: 'jump', alias: 'jump', address: '192.0.2.1', user: 'ada' }
const reach: SshRoute = { ...hop, bastions: [bastion] }

test.each([
  [
    'ssh: connect to host 10.0.0.5 port 22: Connection refused',
    'SSH_UNREACHABLE',
    /^10.0.0.5 port 22 refuses/,
  ],
  [
    'ssh: connect to host 192.0.2.1 port 22: Connection timed out',
    'SSH_UNREACHABLE',
    /^192.0.2.1 port 22 does not respond/,
  ],
  ['ssh: connect to host 10.0.0.5 port 22: No route to host', 'SSH_UNREACHABLE', /no route to 10.0.0.5/],
  [
    'ssh: Could not resolve hostname 192.0.2.1: Name or service not known',
    'SSH_UNREACHABLE',
    /cannot resolve the name 192.0.2.1/,
  ],
  [
    'kex_exchange_identification: Connection closed by remote host',
    'SSH_UNREACHABLE',
    /closed the connection/,
  ],
  [
    'channel 0: open failed: connect failed: No route to host\nstdio forwarding failed',
    'SSH_UNREACHABLE',
    /bastion jump cannot reach 10.0.0.5 port 22: No route to host$/,
  ],
  [
    'channel 0: open failed: administratively prohibited: open failed',
    'SSH_UNREACHABLE',
    /bastion jump forbids TCP forwarding/,
  ],
  [
    'ada@192.0.2.1: Permission denied (publickey,password).',
    'SSH_NO_KEY_ACCEPTED',
    /ada@192.0.2.1 accepts none of the offered keys: a; it accepts publickey, password/,
  ],
  ['root@10.0.0.5: Permission denied (password).', 'SSH_NO_KEY_ACCEPTED', /accepts no keys, only password/],
  [
    'Unable to negotiate with 10.0.0.5 port 22: no matching key exchange method found. Their offer: x',
    'SSH_KEX',
    /no key exchange method/,
  ],
  ['Host key verification failed.', 'SSH_HOST_KEY_CHANGED', /another ssh host key/],
  ['something else', 'SSH_UNREACHABLE', /cannot connect to 10.0.0.5 port 22: something else/],
])('the ssh message %j is explained', (stderr, code, message) => {
  const found = explainSystemError(
    stderr,
    reach,
    findHop(stderr, reach),
    { offered: ['a'], encrypted: [] },
    1000,
  )
  expect(found).toMatchObject({ code, host: 'cp1', message: expect.stringMatching(message) })
})

test('the last message skips the transfer statistics of ssh', () => {
  const stderr =
    'Timeout, server not responding.\r\nTransferred: sent 1, received 2\r\nBytes per second: sent 3\r\n'
  expect(readLastMessage(stderr)).toBe('Timeout, server not responding.')
  expect(readLastMessage('')).toBe('')
})
