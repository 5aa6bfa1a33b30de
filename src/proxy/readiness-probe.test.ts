import { expect, test } from 'vitest'
import { parseReadyz, classifyError } from './readiness-probe.ts'

test.each([
  [200, 'ok', { kind: 'ready' }],
  [401, '', { kind: 'unclear', reason: 'rejects the probe: 401' }],
  [403, '{"kind":"Status"}', { kind: 'unclear', reason: 'rejects the probe: 403' }],
  [429, '', { kind: 'unready', reason: 'answers 429' }],
  [
    500,
    '[+]ping ok\n[-]etcd failed: reason withheld\n[+]log ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n',
    { kind: 'draining', reason: 'answers 500: etcd, shutdown' },
  ],
  [500, '[-]etcd failed: reason withheld\n', { kind: 'unready', reason: 'answers 500: etcd' }],
])('an answer of %i %j', (status, text, meaning) => {
  expect(parseReadyz(status, text)).toEqual(meaning)
})

test.each([
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'refused'],
  ['EHOSTUNREACH', 'refused'],
  ['EPROTO', 'untrusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'untrusted'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'untrusted'],
])('%s', (code, kind) => {
  expect(classifyError(Object.assign(new Error('no'), { code }))).toEqual({ kind, reason: 'no' })
})
