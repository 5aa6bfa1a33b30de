import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import type { Finding } from '../../src/contract/finding.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { connectAgents, type ConnectedAgents } from '../../src/lifecycle/agents/connected-agents.ts'
import type { Peer } from '../../src/lifecycle/preflight/required-connections.ts'
import { runPreflight } from '../../src/lifecycle/preflight/preflight.ts'
import { readRelease } from '../../src/lifecycle/agents/release-file.ts'
import { connectBuiltIn } from '../../src/ssh/built-in-ssh.ts'
import { noSshConfig } from '../../src/ssh/ssh-config.ts'
import { resolveSshRoute } from '../../src/ssh/ssh-route.ts'
import { openFreshLab } from '../support/lab.ts'

/**
 * The hosts are three control planes that are also etcd members and nodes. They share the clock of the
 * machine that runs the lab, so clock differences are not tested.
 */
const names = ['cp1', 'cp2', 'cp3']
const { signal } = new AbortController()

let lab: Lab
let agents: ConnectedAgents
let cp1: Host
let cp2: Host
let cp3: Host

beforeAll(async () => {
  lab = await openFreshLab('preflight')
  await lab.up(names)
  ;[cp1, cp2, cp3] = await Promise.all([lab.host('cp1'), lab.host('cp2'), lab.host('cp3')])
  agents = await connectLabAgents([cp1, cp2, cp3])
})
afterAll(async () => {
  try {
    await agents.close()
  } finally {
    await lab.down()
  }
})
afterEach(async () => {
  const clean =
    'nft delete table inet test 2>/dev/null || true; systemctl stop taker-tcp 2>/dev/null || true; ip link delete vxtest 2>/dev/null || true; ip link set eth0 mtu 1500'
  await Promise.all([cp1, cp2, cp3].map(async (host) => host.script(clean)))
})

async function peers(): Promise<readonly Peer[]> {
  return Promise.all(
    [cp1, cp2, cp3].map(async ({ name, address }): Promise<Peer> => {
      const { facts } =
        (await agents.sessions.get(name)?.request({ type: 'facts', host: name }, 'facts')) ?? {}
      const packetBytes = facts?.system.addresses.find((one) => one.address === address)?.mtu ?? 0
      return {
        host: name,
        address,
        os: 'linux',
        roles: new Set(['etcd', 'control-plane', 'node']),
        ports: [
          { port: 2379, protocol: 'tcp', component: 'etcd', from: 'hosts' },
          { port: 2380, protocol: 'tcp', component: 'etcd', from: 'hosts' },
          { port: 6443, protocol: 'tcp', component: 'kube-apiserver', from: 'hosts' },
          { port: 10_250, protocol: 'tcp', component: 'kubelet', from: 'hosts' },
          { port: 4789, protocol: 'udp', component: 'flanneld', from: 'hosts' },
        ],
        packetBytes,
        firewalls: [],
      }
    }),
  )
}

async function runChecks(newHosts: readonly string[] = names): Promise<readonly Finding[]> {
  return runPreflight(agents.sessions, await peers(), { newHosts: new Set(newHosts), now: () => new Date() })
}

/** Adds firewall rules for incoming or outgoing packets of a host. */
async function addFirewallRule(host: Host, text: string, hook: 'input' | 'output' = 'input'): Promise<void> {
  const chain = `chain ${hook}_test {\ntype filter hook ${hook} priority 0\n${text}\n}`
  await host.exec(['nft', '-f', '-'], { input: `table inet test {\n${chain}\n}\n` })
}

/** Lists listening sockets except those of ssh and of the agent's metrics. */
async function listeners(host: Host): Promise<string> {
  const { stdout } = await host.exec(['ss', '-Hlntu', 'not sport = :22 and not sport = :6446'])
  return stdout.trim()
}

test('healthy hosts have no findings within 1.5 s, and no port stays open', async () => {
  const allPeers = await peers()
  const times: number[] = []
  for (let round = 0; round < 5; round++) {
    const startedAt = performance.now()
    const found = await runPreflight(agents.sessions, allPeers, {
      newHosts: new Set(names),
      now: () => new Date(),
    })
    times.push(performance.now() - startedAt)
    expect(found).toEqual([])
  }
  process.stderr.write(`preflight of three: ${times.map((time) => time.toFixed(0)).join(', ')} ms\n`)
  expect(Math.min(...times)).toBeLessThan(1500)
  for (const host of [cp1, cp2, cp3]) expect(await listeners(host)).toBe('')
})

test('a port that one host drops is the only finding', async () => {
  await addFirewallRule(cp2, 'tcp dport 2380 drop')
  expect(await runChecks()).toMatchObject([
    {
      code: 'PEER_PORT_BLOCKED',
      severity: 'error',
      host: 'cp2',
      component: 'etcd',
      message: 'cp1 and cp3 cannot reach its port 2380/tcp (etcd): no response',
    },
  ])
})

test.each(['reject', 'reject with icmpx admin-prohibited', 'reject with tcp reset'])(
  'a firewall that rejects is reported as a blocked port: %s',
  async (verdict) => {
    await addFirewallRule(cp1, `tcp dport { 6443, 10250 } ${verdict}`)
    const found = await runChecks()
    expect(found).toMatchObject([{ code: 'PEER_PORT_BLOCKED', host: 'cp1' }])
    expect(found[0]?.message).toMatch(
      /^cp2 and cp3 cannot reach its ports 6443\/tcp \(kube-apiserver\) and 10250\/tcp \(kubelet\): /,
    )
  },
)

test('a host that blocks its own outgoing connections is reported once', async () => {
  await addFirewallRule(cp3, 'tcp dport { 2379, 6443 } drop', 'output')
  expect(await runChecks()).toMatchObject([
    {
      host: 'cp3',
      message: 'cannot reach ports 2379/tcp (etcd) and 6443/tcp (kube-apiserver) of cp1 and cp2: no response',
    },
  ])
})

test('lost large datagrams are reported with the largest size that arrives', async () => {
  await addFirewallRule(cp1, 'udp dport 4789 ip length > 1400 drop')
  expect(await runChecks()).toMatchObject([
    {
      code: 'PEER_UDP_SMALLER',
      severity: 'warning',
      host: 'cp1',
      message:
        'pod packets have up to 1500 bytes, but from cp2 and cp3 to it only packets of about 1400 bytes arrive',
    },
  ])
})

test('probe datagrams have the do-not-fragment flag', async () => {
  await addFirewallRule(cp1, 'udp dport 4789 ip frag-off & 0x4000 == 0 drop')
  expect(await runChecks()).toEqual([])
})

test('a router with a smaller MTU is reported with its packet size', async () => {
  await cp3.script(`sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.eth0.send_redirects=0
    ip route add ${cp1.address}/32 dev eth0 mtu lock 1450`)
  await cp2.exec(['ip', 'route', 'add', `${cp1.address}/32`, 'via', cp3.address])
  try {
    // Only cp2 is reported: the kernel of cp3 knows the MTU of its route and fragments packets that cp3
    // sends.
    expect(await runChecks()).toMatchObject([
      {
        code: 'PEER_UDP_SMALLER',
        host: 'cp1',
        message:
          'pod packets have up to 1500 bytes, but from cp2 to it only packets of about 1450 bytes arrive',
      },
    ])
  } finally {
    await cp2.exec(['ip', 'route', 'del', `${cp1.address}/32`])
    await cp3.exec(['ip', 'route', 'del', `${cp1.address}/32`])
  }
})

test('a host with a smaller interface MTU is reported', async () => {
  await cp2.exec(['ip', 'link', 'set', 'eth0', 'mtu', '1300'])
  expect(await runChecks()).toMatchObject([{ code: 'PEER_UDP_SMALLER', host: 'cp2' }])
})

test('a port on which all datagrams are lost is reported as blocked', async () => {
  await addFirewallRule(cp3, 'udp dport 4789 drop')
  expect(await runChecks()).toMatchObject([
    {
      code: 'PEER_UDP_BLOCKED',
      severity: 'error',
      host: 'cp3',
      message: 'cp1 and cp2 cannot reach its port 4789/udp (flanneld): no response',
    },
  ])
})

test('a port in use is not opened, and any response proves that it is reachable', async () => {
  await cp1.script(`systemd-run --quiet --unit=taker-tcp socat TCP-LISTEN:10250,fork,reuseaddr STDOUT
    ip link add vxtest type vxlan id 4096 dstport 4789 dev eth0 && ip link set vxtest up`)
  await pollUntil('a listener on port 10250', async () => (await listeners(cp1)).includes(':10250'), {
    timeoutMs: 10_000,
  })
  expect(await runChecks()).toEqual([])
  // Only the TCP port is reported. The UDP port of the pod network is in use, so preflight cannot probe it.
  await addFirewallRule(cp1, 'tcp dport 10250 drop; udp dport 4789 drop')
  expect(await runChecks()).toMatchObject([{ code: 'PEER_PORT_BLOCKED', host: 'cp1', component: 'kubelet' }])
})

test('for a host that joins, only that host listens, and the other hosts probe it', async () => {
  await addFirewallRule(cp3, 'tcp dport 10250 drop; udp dport 4789 drop')
  // UDP to an existing host cannot be probed, because its pod network uses the port.
  expect(await runChecks(['cp1'])).toMatchObject([
    { host: 'cp3', message: 'cp1 cannot reach its port 10250/tcp (kubelet): no response' },
  ])
  const found = await runChecks(['cp3'])
  expect(found.map(({ code, host }) => `${code} ${host}`)).toEqual([
    'PEER_PORT_BLOCKED cp3',
    'PEER_UDP_BLOCKED cp3',
  ])
})

test('probe ports are closed when the session of the operator ends', async () => {
  const session = agents.sessions.get('cp1')
  const token = '9f86d081884c7d659a2feaa0c55ad015'
  const listenOptions = { address: cp1.address, tcp: [2380], udp: [4789], token, for: 30_000 }
  const opened = await session?.request({ type: 'listen', ...listenOptions }, 'listening')
  expect(opened).toEqual({ type: 'listening', tcp: [2380], udp: [4789] })
  expect((await listeners(cp1)).split('\n')).toHaveLength(2)
  // This is the last test, so it may close the session of the host.
  await session?.close()
  await pollUntil('the ports to be free', async () => (await listeners(cp1)) === '', { timeoutMs: 10_000 })
})

/** Installs the agent of this source tree on lab hosts and opens a session to each, as commands do. */
async function connectLabAgents(hosts: readonly Host[]): Promise<ConnectedAgents> {
  const directory = await mkdtemp(join(tmpdir(), 'agents-'))
  try {
    const release = await readRelease(inject('executable'), '0.0.0', () => directory)
    const keyFiles = new Map(hosts.map(({ name, ssh }) => [name, ssh.keyFile]))
    const connected = await connectAgents(
      hosts.map(({ name, address }) => ({
        name,
        address,
        os: 'linux',
        local: false,
        roles: ['worker'],
        labels: {},
        files: [],
      })),
      {
        connect: async ({ name, address }, connectSignal) => {
          const ssh = { user: 'root', key: keyFiles.get(name) }
          const operator = { user: 'root', home: directory, directory }
          const route = resolveSshRoute({ name, address, ssh }, {}, noSshConfig, operator)
          return connectBuiltIn(route, { signal: connectSignal, verify: () => 'first-use' })
        },
        release: async () => release,
        emit: () => undefined,
        signal,
      },
    )
    for (const error of connected.unreachable.values()) throw error
    return connected
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
