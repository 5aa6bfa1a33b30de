import { expect, test } from 'vitest'
import { diagnose } from '../../lifecycle/doctor/diagnose.ts'
import type { ClusterHealthObservation } from '../../lifecycle/observe/observe-cluster.ts'
import {
  withFailingProbes,
  buildHealthyCluster,
  withLostHosts,
  withHealth,
} from '../../lifecycle/observe/testing/cluster-fixtures.ts'
import { buildDoctorDocument } from './document.ts'
import { formatDoctor } from './text.ts'

const plain = (_colour: string, text: string): string => text
const formatObservation = (observation: ClusterHealthObservation, wide = false): string =>
  formatDoctor(buildDoctorDocument('first', observation.at, diagnose(observation)), { wide }, plain)

test('a healthy cluster is one line', () => {
  expect(formatObservation(buildHealthyCluster())).toBe('no problems found\n')
})

test('a cause is a paragraph, its effects are lines, and a count comes last', () => {
  const observation = withHealth(
    withFailingProbes(withLostHosts(buildHealthyCluster(), 'w1'), 'w2', [
      'kubelet',
      'PEERS_UNREACHABLE',
      'remote',
    ]),
    'cp1',
    (health) => ({
      ...health,
      paused: { until: '2026-11-15T13:00:00.000Z', by: 'ana' },
    }),
  )
  expect(formatObservation(observation)).toMatchInlineSnapshot(`
    "error HOST_UNREACHABLE w1 is unreachable, for 2 min 00 s
      evidence    ssh to 10.0.0.101: connect ETIMEDOUT
      evidence    node condition: Kubelet stopped posting node status.
      meaning     It is off, or the network fails. Pods of a worker start elsewhere after five minutes. etcd and the API continue while more than half of the control planes run.
      action      start w1, or fix its network; if it is lost permanently: hyperkube node remove w1
      needs manual action
      effect: error NODE_NOT_READY node w1 is not ready, for 2 min 00 s
      effect: error PEERS_UNREACHABLE w2/kubelet: other nodes are unreachable from this one, for 2 min 00 s

    warning HEAL_PAUSED healing on cp1 is paused until 2026-11-15T13:00:00.000Z
      evidence    paused by ana
      meaning     The pause ends on its own, after a day at the latest.
      action      hyperkube heal resume cp1

    1 error, 1 warning; 2 effects
    "
  `)
})

test('actions of the agent come between the evidence and the command', () => {
  const observation = withHealth(
    withFailingProbes(buildHealthyCluster(), 'w1', ['kubelet', 'HEALTH_NO_RESPONSE']),
    'w1',
    (health) => ({
      ...health,
      actions: [
        {
          at: '2026-11-15T11:59:30.000Z',
          component: 'kubelet',
          action: 'restart',
          because: 'it did not answer 3 times',
          outcome: 'done',
          details: [],
        },
      ],
    }),
  )
  expect(formatObservation(observation)).toMatchInlineSnapshot(`
    "error HEALTH_NO_RESPONSE w1/kubelet: kubelet runs, but does not answer, for 2 min 00 s
      evidence    probe health_no_response: HEALTH_NO_RESPONSE was seen
      meaning     Connections are refused, reset or time out: the component hangs, is suspended, or has just started. The agent restarts it after a few failed probes.
      agent did   2026-11-15T11:59:30.000Z restarted the component: it did not answer 3 times
      agent next  watches; acts after several failures in a row
      action      hyperkube logs kubelet --limit w1

    1 error
    "
  `)
})

test('the document contains code, severity, host, time, command and evidence of each finding', () => {
  const observation = withFailingProbes(buildHealthyCluster(), 'w1', ['kubelet', 'CERTIFICATE_DUE', 'remote'])
  expect(buildDoctorDocument('first', observation.at, diagnose(observation))).toMatchObject({
    kind: 'Doctor',
    cluster: 'first',
    healthy: true,
    findings: [
      {
        code: 'CERTIFICATE_DUE',
        severity: 'warning',
        host: 'w1',
        component: 'kubelet',
        since: '2026-11-15T11:58:00.000Z',
        command: 'hyperkube certs renew w1',
        evidence: ['probe certificate_due: CERTIFICATE_DUE was seen'],
      },
    ],
  })
})
