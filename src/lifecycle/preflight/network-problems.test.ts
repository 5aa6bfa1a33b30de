import { expect, test } from 'vitest'
import type { NetworkProbeOutcome, NetworkProbeResult } from '../../contract/network-probe.ts'
import { findNetworkProblems } from './network-problems.ts'
import { listRequiredConnections, type RequiredConnection } from './required-connections.ts'
import { buildPeers, buildResult, listPeerNames, type PeersOptions } from './testing/fixtures.ts'

type FailureOf = (
  connection: RequiredConnection,
) => NetworkProbeOutcome | Omit<NetworkProbeResult, 'milliseconds'> | undefined

/** Returns the findings for a cluster in which the given connections fail. */
function findProblems(options: PeersOptions, fail: FailureOf, listened = true) {
  const peers = buildPeers(options)
  return findNetworkProblems(
    // The result must not depend on the order of connections.
    listRequiredConnections(peers, listPeerNames(peers))
      .toReversed()
      .map((connection) => {
        const outcome = fail(connection) ?? 'ok'
        return buildResult(connection, typeof outcome === 'string' ? { outcome } : outcome, listened)
      }),
  )
}

test('a healthy network has no findings', () => {
  expect(findProblems({ controlPlanes: 3, workers: 3 }, () => undefined)).toEqual([])
})

test('a port that one host blocks is one finding for that host', () => {
  const failWhere: FailureOf = ({ to, port }) =>
    to.host === 'cp2' && port.port === 2380 ? 'timeout' : undefined
  expect(findProblems({ controlPlanes: 3 }, failWhere)).toEqual([
    {
      code: 'PEER_PORT_BLOCKED',
      severity: 'error',
      host: 'cp2',
      component: 'etcd',
      message: 'cp1 and cp3 cannot reach its port 2380/tcp (etcd): no response',
      hint: 'on cp2: nft list ruleset; if it allows the ports, check firewalls and security groups in between',
    },
  ])
})

test('the hint for a known firewall is its command', () => {
  const failWhere: FailureOf = ({ to, port }) =>
    to.host === 'cp1' && port.protocol === 'tcp' && port.port < 3000 ? 'unreachable' : undefined
  const hint = (firewall: 'firewalld' | 'ufw') =>
    findProblems({ controlPlanes: 2, facts: { cp1: { linux: { firewalls: [firewall] } } } }, failWhere).map(
      (finding) => finding.hint,
    )
  expect(hint('firewalld')).toEqual([
    'on cp1: firewall-cmd --permanent --add-port=2379/tcp --add-port=2380/tcp && firewall-cmd --reload',
  ])
  expect(hint('ufw')).toEqual(['on cp1: ufw allow 2379/tcp && ufw allow 2380/tcp'])
})

test('ports with the same sources are listed together, others separately', () => {
  const failWhere: FailureOf = ({ to, from, port }) => {
    if (to.host !== 'cp1' || port.protocol === 'udp') return undefined
    return port.component === 'etcd' || from.host === 'w1' ? 'refused' : undefined
  }
  expect(findProblems({ controlPlanes: 3, workers: 2 }, failWhere)).toMatchObject([
    {
      host: 'cp1',
      message:
        'cp2 and cp3 cannot reach its ports 2379/tcp (etcd) and 2380/tcp (etcd); w1 cannot reach its port 6443/tcp (kube-apiserver): connection refused',
    },
  ])
})

test('a host that reaches no other host is one finding for that host', () => {
  const failWhere: FailureOf = ({ from, port }) =>
    from.host === 'w1' && port.protocol === 'tcp' ? 'timeout' : undefined
  expect(findProblems({ controlPlanes: 3, workers: 2 }, failWhere)).toMatchObject([
    {
      code: 'PEER_PORT_BLOCKED',
      host: 'w1',
      message: 'cannot reach port 6443/tcp (kube-apiserver) of cp1, cp2 and cp3: no response',
      hint: 'allow 6443/tcp from w1 to cp1, cp2 and cp3, also in firewalls and security groups in between',
    },
  ])
})

test('a port that 500 hosts block is one finding for each host that connects to it', () => {
  const failWhere: FailureOf = ({ port }) => (port.component === 'kubelet' ? 'timeout' : undefined)
  const findings = findProblems({ controlPlanes: 3, workers: 497 }, failWhere)
  expect(findings.map(({ host }) => host)).toEqual(['cp1', 'cp2', 'cp3'])
  expect(findings[0]?.message).toMatch(/^cannot reach port 10250\/tcp \(kubelet\) of cp\d, cp\d and 497 more/)
})

test('a refused connection without a listener is not a network problem, a timeout is', () => {
  const failWhere =
    (outcome: NetworkProbeOutcome): FailureOf =>
    ({ to, port }) =>
      to.host === 'cp1' && port.port === 6443 ? outcome : undefined
  expect(findProblems({ controlPlanes: 1, workers: 1 }, failWhere('refused'), false)).toEqual([])
  expect(findProblems({ controlPlanes: 1, workers: 1 }, failWhere('timeout'), false)).toHaveLength(1)
})

test('another machine at the address of a host is an address conflict', () => {
  const failAtDuplicate: FailureOf = ({ to, port }) =>
    to.host === 'w1' && port.protocol === 'tcp' ? 'unexpected-response' : undefined
  expect(findProblems({ controlPlanes: 2, workers: 1 }, failAtDuplicate)).toMatchObject([
    {
      code: 'PEER_ADDRESS_CONFLICT',
      severity: 'error',
      host: 'w1',
      message: 'another machine responds at its address 10.3.0.1 to cp1 and cp2, on port 10250/tcp (kubelet)',
    },
  ])
})

test('lost datagrams are an error, and datagrams that are too large a warning', () => {
  const failToW1 =
    (result: ReturnType<FailureOf>): FailureOf =>
    (connection) =>
      connection.to.host === 'w1' && connection.port.protocol === 'udp' ? result : undefined
  expect(findProblems({ workers: 2 }, failToW1('timeout'))).toMatchObject([
    {
      code: 'PEER_UDP_BLOCKED',
      severity: 'error',
      host: 'w1',
      message: 'cp1 and w2 cannot reach its port 4789/udp (flanneld): no response',
    },
  ])
  expect(findProblems({ workers: 2 }, failToW1({ outcome: 'too-big', size: 1372 }))).toMatchObject([
    {
      code: 'PEER_UDP_SMALLER',
      severity: 'warning',
      host: 'w1',
      component: 'flanneld',
      message:
        'pod packets have up to 1500 bytes, but from cp1 and w2 to it only packets of about 1400 bytes arrive',
      hint: 'set spec.network.flannel.mtu: 1400, or raise the MTU of the links in between to 1500',
    },
  ])
})
