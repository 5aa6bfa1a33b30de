import { expect, test } from 'vitest'
import type { ProbeOutcome, ProbeResult } from '../../contract/network-probe.ts'
import { names, type PeersCase, seen, somePeers } from './testing/fixtures.ts'
import { judge } from './network-problems.ts'
import { type Need, needsOf } from './required-connection.ts'

type Trouble = (need: Need) => ProbeOutcome | Omit<ProbeResult, 'milliseconds'> | undefined

/** What is found in a cluster where needs fail as told. */
function found(wish: PeersCase, trouble: Trouble, listened = true) {
  const peers = somePeers(wish)
  return judge(
    // In whatever order they come.
    needsOf(peers, names(peers))
      .toReversed()
      .map((need) => {
        const outcome = trouble(need) ?? 'ok'
        return seen(need, typeof outcome === 'string' ? { outcome } : outcome, listened)
      }),
  )
}

test('where all is well nothing is said', () => {
  expect(found({ controlPlanes: 3, workers: 3 }, () => undefined)).toEqual([])
})

test('a port that one host does not let in is one finding, of that host', () => {
  const shut: Trouble = ({ to, port }) => (to.host === 'cp2' && port.port === 2380 ? 'timeout' : undefined)
  expect(found({ controlPlanes: 3 }, shut)).toEqual([
    {
      code: 'PEER_PORT_BLOCKED',
      severity: 'error',
      host: 'cp2',
      component: 'etcd',
      message: 'cp1 and cp3 do not reach its port 2380/tcp (etcd): no answer comes',
      hint: 'on cp2: nft list ruleset shows what its own rules turn away; else it is a firewall or security group in between',
    },
  ])
})

test('who keeps packets out by name is told what to let in, ready to paste', () => {
  const shut: Trouble = ({ to, port }) =>
    to.host === 'cp1' && port.protocol === 'tcp' && port.port < 3000 ? 'unreachable' : undefined
  const hint = (firewall: 'firewalld' | 'ufw') =>
    found({ controlPlanes: 2, facts: { cp1: { linux: { firewalls: [firewall] } } } }, shut).map(
      (finding) => finding.hint,
    )
  expect(hint('firewalld')).toEqual([
    'on cp1: firewall-cmd --permanent --add-port=2379/tcp --add-port=2380/tcp && firewall-cmd --reload',
  ])
  expect(hint('ufw')).toEqual(['on cp1: ufw allow 2379/tcp && ufw allow 2380/tcp'])
})

test('ports with the same trouble are said together, others apart', () => {
  const shut: Trouble = ({ to, from, port }) => {
    if (to.host !== 'cp1' || port.protocol === 'udp') return undefined
    return port.component === 'etcd' || from.host === 'w1' ? 'refused' : undefined
  }
  expect(found({ controlPlanes: 3, workers: 2 }, shut)).toMatchObject([
    {
      host: 'cp1',
      message:
        'cp2 and cp3 do not reach its ports 2379/tcp (etcd) and 2380/tcp (etcd); w1 does not reach its port 6443/tcp (kube-apiserver): it is refused',
    },
  ])
})

test('a host that reaches nobody is one finding, not one for each of the others', () => {
  const shut: Trouble = ({ from, port }) =>
    from.host === 'w1' && port.protocol === 'tcp' ? 'timeout' : undefined
  expect(found({ controlPlanes: 3, workers: 2 }, shut)).toMatchObject([
    {
      code: 'PEER_PORT_BLOCKED',
      host: 'w1',
      message: 'it does not reach port 6443/tcp (kube-apiserver) of cp1, cp2 and cp3: no answer comes',
      hint: 'let 6443/tcp out of w1 and into cp1, cp2 and cp3, also in firewalls and security groups in between',
    },
  ])
})

test('a port that is shut everywhere is said once for each who needs it, also of five hundred', () => {
  const shut: Trouble = ({ port }) => (port.component === 'kubelet' ? 'timeout' : undefined)
  const findings = found({ controlPlanes: 3, workers: 497 }, shut)
  expect(findings.map(({ host }) => host)).toEqual(['cp1', 'cp2', 'cp3'])
  expect(findings[0]?.message).toMatch(
    /^it does not reach port 10250\/tcp \(kubelet\) of cp\d, cp\d and 497 more/,
  )
})

test('that nobody answers at a port which somebody else has is no matter of the way', () => {
  const shut =
    (outcome: ProbeOutcome): Trouble =>
    ({ to, port }) =>
      to.host === 'cp1' && port.port === 6443 ? outcome : undefined
  expect(found({ controlPlanes: 1, workers: 1 }, shut('refused'), false)).toEqual([])
  expect(found({ controlPlanes: 1, workers: 1 }, shut('timeout'), false)).toHaveLength(1)
})

test('somebody else at the address of a host', () => {
  const twin: Trouble = ({ to, port }) =>
    to.host === 'w1' && port.protocol === 'tcp' ? 'other-answer' : undefined
  expect(found({ controlPlanes: 2, workers: 1 }, twin)).toMatchObject([
    {
      code: 'PEER_OTHER_ANSWERS',
      severity: 'error',
      host: 'w1',
      message: 'at its address 10.3.0.1 somebody else answers cp1 and cp2, on port 10250/tcp (kubelet)',
    },
  ])
})

test('datagrams that get lost, and those that are too large', () => {
  const toW1 =
    (result: ReturnType<Trouble>): Trouble =>
    (need) =>
      need.to.host === 'w1' && need.port.protocol === 'udp' ? result : undefined
  expect(found({ workers: 2 }, toW1('timeout'))).toMatchObject([
    {
      code: 'PEER_UDP_BLOCKED',
      severity: 'error',
      host: 'w1',
      message: 'cp1 and w2 do not reach its port 4789/udp (flanneld): no answer comes',
    },
  ])
  expect(found({ workers: 2 }, toW1({ outcome: 'too-big', size: 1372 }))).toMatchObject([
    {
      code: 'PEER_UDP_SMALLER',
      severity: 'warning',
      host: 'w1',
      component: 'flanneld',
      message:
        'packets of pods have up to 1500 bytes, and on the way from cp1 and w2 to it only those of about 1400 arrive',
      hint: 'spec.network.flannel.mtu: 1400, or let the links in between carry 1500',
    },
  ])
})
