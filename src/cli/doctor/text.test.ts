import { expect, test } from 'vitest'
import { diagnose } from '../../lifecycle/doctor/diagnose.ts'
import type { Look } from '../../lifecycle/observe/observe-cluster.ts'
import { failing, healthyLook, lost, withHealth } from '../../lifecycle/observe/testing/cluster-fixtures.ts'
import { doctorDocument } from './document.ts'
import { doctorText } from './text.ts'

const plain = (_colour: string, text: string): string => text
const textOf = (look: Look, wide = false): string =>
  doctorText(doctorDocument('first', look.at, diagnose(look)), { wide }, plain)

test('of a cluster that is well one line is said', () => {
  expect(textOf(healthyLook())).toBe('nothing is wrong\n')
})

test('a cause as a paragraph, what follows from it as lines, and a count at the end', () => {
  const look = withHealth(
    failing(lost(healthyLook(), 'w1'), 'w2', ['kubelet', 'NEIGHBOURS_SILENT', 'remote']),
    'cp1',
    (health) => ({
      ...health,
      paused: { until: '2026-11-15T13:00:00.000Z', by: 'ana' },
    }),
  )
  expect(textOf(look)).toMatchInlineSnapshot(`
    "error HOST_AWAY w1 does not answer, for 2 min 00 s
      seen   ssh to 10.0.0.101: connect ETIMEDOUT
      seen   the API says of its node: Kubelet stopped posting node status.
      means  It is off, or the way to it is cut. A worker’s pods start elsewhere after five minutes; etcd and the API go on while more than half of the control planes are there.
      type   switch w1 on, or mend the way to it; if it is lost for good: hyperkube node remove w1
      it does not mend by itself
      from this follows: error NODE_NOT_READY node w1 is not ready, for 2 min 00 s
      from this follows: error NEIGHBOURS_SILENT w2/kubelet: other nodes do not answer this one, for 2 min 00 s

    warning HEAL_PAUSED nothing is healed on cp1 until 2026-11-15T13:00:00.000Z
      seen   paused by ana
      means  A person works there. It ends by itself, after a day at the latest.
      type   hyperkube heal resume cp1

    1 error, 1 warning; 2 more follow from them
    "
  `)
})

test('what an agent does is told between what was seen and what to type', () => {
  const look = withHealth(failing(healthyLook(), 'w1', ['kubelet', 'HEALTH_NO_ANSWER']), 'w1', (health) => ({
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
  }))
  expect(textOf(look)).toMatchInlineSnapshot(`
    "error HEALTH_NO_ANSWER w1/kubelet: kubelet is there, and does not answer, for 2 min 00 s
      seen   probe health_no_answer: HEALTH_NO_ANSWER was seen
      means  Its process is there, and connections to it are refused, reset or not answered in time: it hangs, was stopped by a signal, or has only just started. The agent restarts it when that is seen a few times in a row.
      agent  2026-11-15T11:59:30.000Z restarted it: it did not answer 3 times
      next   looks on; it acts when the same is seen a few times in a row
      type   hyperkube logs kubelet --limit w1

    1 error
    "
  `)
})

test('the document says of each finding all that a program needs', () => {
  const look = failing(healthyLook(), 'w1', ['kubelet', 'CERTIFICATE_DUE', 'remote'])
  expect(doctorDocument('first', look.at, diagnose(look))).toMatchObject({
    kind: 'Doctor',
    cluster: 'first',
    well: true,
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
