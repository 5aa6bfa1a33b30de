import { expect, test } from 'vitest'
import { HyperkubeError } from '../../kit/errors.ts'
import { nothing } from '../../lifecycle/build-proposal.ts'
import { findingsText } from '../print.ts'
import { missingFindings } from './unreachable-findings.ts'
import { type UpEnd, upDocument, upText } from './result.ts'

const end: UpEnd = {
  code: 0,
  cluster: 'shop',
  hosts: ['cp1', 'w1'],
  changedHosts: ['w1'],
  leftBehind: [],
  ops: 12,
  seconds: 34.5,
  log: '/logs/1',
}

test('what became of the cluster, for programs', () => {
  expect(upDocument(end)).toEqual({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'UpResult',
    cluster: 'shop',
    outcome: 'done',
    changedHosts: ['w1'],
    leftBehind: [],
    ops: 12,
    seconds: 34.5,
    log: '/logs/1',
  })
  expect(upDocument({ ...end, code: 3, leftBehind: ['w2'] })).toMatchObject({
    outcome: 'pending',
    leftBehind: ['w2'],
  })
  expect(upDocument({ ...end, code: 1 })).toMatchObject({ outcome: 'failed' })
  expect(upDocument({ ...end, code: 130, log: undefined })).not.toHaveProperty('log')
})

test('what would become of it, as a plan', () => {
  const leave = { id: 'leave/w1', hosts: ['w1'] }
  const foreseen = { ...nothing, ops: new Map([['w1', []]]), steps: [leave] }
  expect(upDocument({ ...end, code: 3, foreseen })).toMatchObject({
    kind: 'Plan',
    steps: [leave],
    ops: { w1: [] },
  })
})

test('and for people', () => {
  expect(upText(end)).toBe('shop is up on cp1 and w1\n')
  expect(upText({ ...end, code: 3, leftBehind: ['w2'] })).toBe(
    'shop is up on cp1 and w1\nleft behind: w2; hyperkube up once they answer\n',
  )
  expect(upText({ ...end, code: 1, hosts: [] })).toBe('')
})

test('hosts that do not answer are told as findings are, with their reason and what to do', () => {
  const refused = (host: string): HyperkubeError =>
    new HyperkubeError('SSH_UNREACHABLE', 'nobody answers', {
      host,
      hint: 'ping it',
      cause: new Error('connect ECONNREFUSED'),
    })
  const missing = new Map(['w1', 'w2'].map((host) => [host, refused(host)]))
  expect(findingsText(missingFindings(missing))).toBe(
    'w1 and w2: warning SSH_UNREACHABLE: nobody answers: connect ECONNREFUSED\n  → ping it\n',
  )
})
