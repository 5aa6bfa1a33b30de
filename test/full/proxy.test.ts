import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { labKubeconfigPath } from '../../lab/bench/bare-cluster.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { ApiLoad, type Load } from '../support/api-load.ts'
import { startKubectlCluster, type KubectlCluster } from '../support/kubectl-cluster.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { openFreshLab } from '../support/lab.ts'
import { installProgram } from '../support/program.ts'
import {
  waitForRequests,
  findOutages,
  ProxiedApi,
  type ProxyLoadResult,
  formatServer,
  signalApiServer,
} from '../support/proxied-api.ts'

const perSecond = 200

let lab: Lab
let cluster: KubectlCluster
let proxied: ProxiedApi

beforeAll(async () => {
  lab = await openFreshLab('proxy')
  cluster = await startKubectlCluster(lab, '3+1')
  const worker = await lab.host('w1')
  const servers = (await lab.hosts()).filter(({ name }) => name.startsWith('cp'))
  const credentials = parseKubeconfig(await readFile(labKubeconfigPath(lab), 'utf8'))
  await ApiLoad.prepare(cluster.api)
  await installProgram([worker])
  proxied = new ProxiedApi(worker, servers, credentials)
  await proxied.start()
}, 900_000)
afterAll(async () => {
  try {
    cluster.api.close()
  } finally {
    await lab.down()
  }
})

async function runUnderLoad(
  title: string,
  host: Host,
  fault: (load: Load) => Promise<void>,
): Promise<ProxyLoadResult> {
  return proxied.runUnderLoad(title, perSecond, host, fault)
}

function serverNamed(name: string): Host {
  const host = proxied.servers.find((one) => one.name === name)
  if (host === undefined) throw new Error(`there is no ${name}`)
  return host
}

/**
 * Finds the host of an etcd follower. The loss of the leader would also stop writes, which a proxy cannot
 * prevent.
 */
async function etcdFollower(): Promise<Host> {
  const pki = '/etc/kubernetes/pki'
  const credential = [
    '--cacert',
    `${pki}/etcd-ca.crt`,
    '--cert',
    `${pki}/etcd.crt`,
    '--key',
    `${pki}/etcd.key`,
  ]
  for (const host of proxied.servers) {
    const { stdout } = await host.exec([
      'etcdctl',
      ...['--endpoints', 'https://127.0.0.1:2379', ...credential],
      ...['endpoint', 'status', '--write-out', 'json'],
    ])
    // The ids are parsed as text, because they exceed safe integers.
    const [, leader] = /"leader":(\d+)/.exec(stdout) ?? []
    const [, member] = /"member_id":(\d+)/.exec(stdout) ?? []
    if (leader !== undefined && leader !== member) return host
  }
  throw new Error('etcd has no follower')
}

test('the proxy learns and stores all servers', async () => {
  await proxied.waitForAllHealthy()
  const { servers } = proxied
  await pollUntil(
    'the state file',
    async () => (await proxied.readStoredServers()).length === servers.length,
    {
      timeoutMs: 60_000,
    },
  )
  expect(await proxied.readStoredServers()).toEqual(servers.map(formatServer).toSorted())
})

describe('the proxy loses and delays no request', () => {
  test('without a fault', async () => {
    const result = await runUnderLoad('nothing', serverNamed('cp1'), async (load) =>
      waitForRequests(load, 10 * perSecond),
    )
    expect(findOutages(result)).toEqual([])
    expect(result.figures).toMatchObject({ retried: 0, throttled: 0, watchBreaks: 0 })
  })

  test('when an API server is killed', async () => {
    const host = serverNamed('cp1')
    const result = await runUnderLoad('SIGKILL', host, async () => {
      await signalApiServer(host, 'KILL')
      await proxied.waitForHealth(host, 'unhealthy')
    })
    expect(findOutages(result)).toEqual([])
  })

  test('when an API server hangs for ten seconds', async () => {
    const host = serverNamed('cp2')
    const result = await runUnderLoad('SIGSTOP', host, async (load) => {
      await signalApiServer(host, 'STOP')
      try {
        await proxied.waitForHealth(host, 'unhealthy')
        await waitForRequests(load, 10 * perSecond)
      } finally {
        await signalApiServer(host, 'CONT')
      }
    })
    expect(findOutages(result)).toEqual([])
  })

  test('when an API server is restarted without a shutdown delay', async () => {
    const host = serverNamed('cp3')
    const result = await runUnderLoad('stop', host, async () => {
      await host.exec(['systemctl', 'restart', 'kube-apiserver'])
    })
    expect(findOutages(result)).toEqual([])
  })

  test('when an API server is restarted with the shutdown delay of the plan', async () => {
    const host = serverNamed('cp3')
    // Adds the shutdown delay of src/plan/linux/kube-apiserver.ts, which lab API servers do not have.
    await host.script(`sed -i 's/--profiling=false/--profiling=false --shutdown-delay-duration=15s/' \
        /etc/systemd/system/kube-apiserver.service
      systemctl daemon-reload
      systemctl restart kube-apiserver`)
    const result = await runUnderLoad('stop with delay', host, async () => {
      await host.exec(['systemctl', 'restart', 'kube-apiserver'])
    })
    expect(findOutages(result)).toEqual([])
  })

  test('when a control plane loses its network', async () => {
    const host = await etcdFollower()
    // A lost host becomes unreachable for all peers at once, but the lab cuts one connection after another.
    // The connection to the proxy's node is cut first.
    const others = [proxied.node, ...proxied.servers.filter((one) => one !== host)]
    const result = await runUnderLoad('lost host', host, async (load) => {
      await lab.partition(host, others)
      try {
        await proxied.waitForHealth(host, 'unhealthy')
        await waitForRequests(load, 5 * perSecond)
      } finally {
        await lab.rejoin()
      }
    })
    expect(findOutages(result)).toEqual([])
  })

  test('when a node no longer reaches one API server', async () => {
    const host = serverNamed('cp2')
    const result = await runUnderLoad('partition', host, async (load) => {
      await lab.partition(host, [proxied.node])
      try {
        await proxied.waitForHealth(host, 'unhealthy')
        await waitForRequests(load, 5 * perSecond)
      } finally {
        await lab.rejoin()
      }
    })
    expect(findOutages(result)).toEqual([])
  })
})

test('the proxy uses less than 64 MiB of memory', async () => {
  const { stdout } = await proxied.node.exec(['cat', `/proc/${await proxied.readPid()}/smaps_rollup`])
  const [, pss = ''] = /^Pss_Anon:\s+(\d+) kB/m.exec(stdout) ?? []
  process.stderr.write(`memory of its own after all that: ${pss} kB\n`)
  // The limit is generous, because most of the memory is garbage that Node collects late on a busy machine.
  expect(Number(pss)).toBeLessThan(64 * 1024)
})

test('the proxy stops cleanly, and finds the cluster if all configured servers are unreachable', async () => {
  await proxied.stop()
  const journal = await proxied.readJournal()
  expect(journal).toContain('stopping')
  expect(journal).not.toMatch(/Failed with result|status=/)
  const unreachable = formatServer(proxied.node)
  await proxied.start([unreachable])
  await proxied.waitForAllHealthy()
  expect((await proxied.readStatus()).servers.map(({ server }) => server)).toEqual([
    unreachable,
    ...proxied.servers.map(formatServer).toSorted(),
  ])
})
