import { expect, test } from 'vitest'
import type { Hop } from './hop.ts'
import { explainLoginError, explainLoss, type LoginProgress } from './login.ts'

const hop: Hop = {
  name: 'cp1',
  alias: '10.0.0.5',
  address: '10.0.0.5',
  port: 22,
  user: 'ada',
  keys: [],
  onlyKeys: false,
}
const none: LoginProgress = {
  handshakeDone: true,
  refusal: undefined,
  methods: ['publickey'],
  partial: false,
  offered: [],
}

function failure(
  message: string,
  level?: string,
  progress: Partial<LoginProgress> = {},
  encrypted: string[] = [],
): unknown {
  const error = Object.assign(new Error(message), level === undefined ? {} : { level })
  return explainLoginError(error, {
    host: 'cp1',
    hop,
    credentials: { encrypted },
    progress: { ...none, ...progress },
  })
}

const refused = 'All configured authentication methods failed'

test('the error of the host key decision is thrown unchanged', () => {
  const error = new Error('changed')
  expect(failure('Host denied', 'handshake', { refusal: { error } })).toBe(error)
})

test('a failing agent or key does not end the login', () => {
  expect(failure('Failed to connect to agent', 'agent')).toBeUndefined()
  expect(failure('Error signing data with key', 'client-authentication')).toBeUndefined()
})

test.each([
  ['the client has no key', {}, [], 'SSH_NO_KEY_ACCEPTED', /no key to offer.*holds none/],
  [
    'the host accepts none of the offered keys',
    { offered: ['a (SHA256:x)'] },
    [],
    'SSH_NO_KEY_ACCEPTED',
    /accepts none of the offered keys: a \(SHA256:x\)$/,
  ],
  [
    'the host also accepts other methods',
    { offered: ['a'], methods: ['publickey', 'password'] },
    [],
    'SSH_NO_KEY_ACCEPTED',
    /: a; it accepts publickey, password$/,
  ],
  ['the key is encrypted', { offered: ['a'] }, ['/k'], 'SSH_KEY_ENCRYPTED', /the key \/k has a passphrase/],
  [
    'the host accepts no keys',
    { methods: ['password'] },
    ['/k'],
    'SSH_NO_KEY_ACCEPTED',
    /accepts no keys, only password/,
  ],
  [
    'the host requires more than a key',
    { partial: true, methods: ['password'] },
    [],
    'SSH_NO_KEY_ACCEPTED',
    /requires more than a key: password/,
  ],
])('a refused login is explained: %s', (_name, progress, encrypted, code, message) => {
  const found = failure(refused, 'client-authentication', progress, encrypted)
  expect(found).toMatchObject({ code, host: 'cp1', message: expect.stringMatching(message) })
})

test.each([
  [
    'Handshake failed: no matching key exchange algorithm',
    'handshake',
    'SSH_KEX',
    /no key exchange algorithm/,
  ],
  ['Connection lost before handshake', 'protocol', 'SSH_UNREACHABLE', /closed the connection/],
  ['Invalid identification string', undefined, 'SSH_UNREACHABLE', /does not speak ssh/],
  ['read ECONNRESET', 'client-socket', 'SSH_UNREACHABLE', /ECONNRESET/],
  [
    'Too many authentication failures',
    undefined,
    'SSH_NO_KEY_ACCEPTED',
    /closed the connection after too many keys/,
  ],
  ['something \u001B[2J else', undefined, 'SSH_UNREACHABLE', /something \\u001b\[2J else/],
])('the ssh error %j is explained', (words, level, code, message) => {
  expect(failure(words, level)).toMatchObject({ code, message: expect.stringMatching(message) })
})

test('a lost connection is explained by its cause', () => {
  expect(explainLoss(Object.assign(new Error('Keepalive timeout'), { level: 'client-timeout' }))).toBe(
    'the host no longer responds',
  )
  expect(explainLoss(new Error('read ECONNRESET'))).toBe('read ECONNRESET')
  expect(explainLoss(Object.assign(new Error('no'), { level: 'agent' }))).toBeUndefined()
})
