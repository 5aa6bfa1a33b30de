import { expect, test } from 'vitest'
import { buildUnreachableFindings } from '../../actions/phases/unreachable-findings.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { emptyProposal } from '../../lifecycle/proposal/proposal.ts'
import { formatFindings } from '../command/print.ts'
import { buildUpDocument, formatNextCommand, formatUpResult, type UpResult } from './run-up.ts'

const result: UpResult = {
  code: 0,
  cluster: 'shop',
  hosts: ['cp1', 'w1'],
  changedHosts: ['w1'],
  leftBehind: [],
  ops: 12,
  seconds: 34.5,
  log: '/logs/1',
}

test('the result of up is a document with outcome, changed hosts and skipped hosts', () => {
  expect(buildUpDocument(result)).toEqual({
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
  expect(buildUpDocument({ ...result, code: 3, leftBehind: ['w2'] })).toMatchObject({
    outcome: 'pending',
    leftBehind: ['w2'],
  })
  expect(buildUpDocument({ ...result, code: 1 })).toMatchObject({ outcome: 'failed' })
  expect(buildUpDocument({ ...result, code: 130, log: undefined })).not.toHaveProperty('log')
})

test('the result of a dry run is a Plan document', () => {
  const removeStep = { id: 'remove/w1', hosts: ['w1'] }
  const plannedChanges = { ...emptyProposal, ops: new Map([['w1', []]]), steps: [removeStep] }
  expect(buildUpDocument({ ...result, code: 3, plannedChanges })).toMatchObject({
    kind: 'Plan',
    steps: [removeStep],
    ops: { w1: [] },
  })
})

test('the result of up as text names the hosts and the skipped hosts', () => {
  expect(formatUpResult(result)).toBe('shop is up on cp1 and w1\n')
  expect(formatUpResult({ ...result, code: 3, leftBehind: ['w2'] })).toBe(
    'shop is up on cp1 and w1\nskipped, because unreachable: w2; to apply the rest later: hyperkube up\n',
  )
  expect(formatUpResult({ ...result, code: 3, leftBehind: ['w2'] }, ['-f shop.yml'])).toContain(
    ': hyperkube up -f shop.yml\n',
  )
  expect(formatUpResult({ ...result, code: 1, hosts: [] })).toBe('')
})

test('after a successful up the next command lists the nodes of the same cluster', () => {
  expect(formatNextCommand(result, [])).toBe('  → to list the nodes: hyperkube kubectl get nodes\n')
  expect(formatNextCommand(result, ['-f shop.yml', '--key k'])).toBe(
    '  → to list the nodes: hyperkube -f shop.yml --key k kubectl get nodes\n',
  )
  expect(formatNextCommand({ code: 0, provisional: { state: 'confirmed', until: '' } }, [])).toContain(
    'nodes',
  )
  expect(formatNextCommand({ code: 0, provisional: { state: 'provisional', until: '' } }, [])).toBe('')
  for (const code of [1, 3, 130] as const) expect(formatNextCommand({ code }, [])).toBe('')
})

test('unreachable hosts are findings with a reason and a hint', () => {
  const buildError = (host: string): HyperkubeError =>
    new HyperkubeError('SSH_UNREACHABLE', 'no answer', {
      host,
      hint: 'ping it',
      cause: new Error('connect ECONNREFUSED'),
    })
  const unreachable = new Map(['w1', 'w2'].map((host) => [host, buildError(host)]))
  expect(formatFindings(buildUnreachableFindings(unreachable))).toBe(
    'w1 and w2: warning SSH_UNREACHABLE: no answer: connect ECONNREFUSED\n  → ping it\n',
  )
})
