import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { ApiLoad } from '../support/api-load.ts'
import { startApiServers, type ApiServers } from '../support/api-servers.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { openFreshLab } from '../support/lab.ts'
import { waitForRequests, findOutages, ProxiedApi, signalApiServer } from '../support/proxied-api.ts'

/** API requests per second. test/full uses four times the load and more faults. */
const perSecond = 50

let lab: Lab
let cluster: ApiServers
let proxied: ProxiedApi

beforeAll(async () => {
  lab = await openFreshLab('proxy-ci')
  cluster = await startApiServers(lab, '3+1', '1.37.1')
  await ApiLoad.prepare(cluster.api)
  const [worker] = cluster.workers
  if (worker === undefined) throw new Error('there is no worker')
  proxied = new ProxiedApi(worker, cluster.controlPlanes, cluster.admin)
  await proxied.start()
})
afterAll(async () => {
  try {
    await cluster.close()
  } finally {
    await lab.down()
  }
})

function server(index: number): Host {
  const host = cluster.controlPlanes[index]
  if (host === undefined) throw new Error(`there is no server ${index}`)
  return host
}

describe('apiserver-proxy loses and delays no request', () => {
  test('when an API server is killed', async () => {
    const result = await proxied.runUnderLoad('SIGKILL', perSecond, server(0), async () => {
      await signalApiServer(server(0), 'KILL')
      await proxied.waitForHealth(server(0), 'unhealthy')
    })
    expect(findOutages(result)).toEqual([])
  })

  test('when an API server hangs', async () => {
    const result = await proxied.runUnderLoad('SIGSTOP', perSecond, server(1), async (load) => {
      await signalApiServer(server(1), 'STOP')
      try {
        await proxied.waitForHealth(server(1), 'unhealthy')
        await waitForRequests(load, 2 * perSecond)
      } finally {
        await signalApiServer(server(1), 'CONT')
      }
    })
    expect(findOutages(result)).toEqual([])
  })

  test('when an API server is restarted gracefully', async () => {
    const result = await proxied.runUnderLoad('restart', perSecond, server(2), async () => {
      await server(2).exec(['systemctl', 'restart', 'kube-apiserver'])
    })
    expect(findOutages(result)).toEqual([])
  })
})

describe('hyperkube proxy', () => {
  const program = [join(import.meta.dirname, '../../src/main.ts')]
  let child: ChildProcess
  let output = ''
  /** Sends a GET request through the proxy over a new connection, as kubectl does. */
  let get: (path: string) => Promise<string>

  beforeAll(async () => {
    const [file, env] = [join(cluster.directory, 'cluster.yml'), { XDG_CONFIG_HOME: cluster.directory }]
    const args = ['proxy', '--listen', '127.0.0.1:0', '-f', file]
    child = spawn(process.execPath, [...program, ...args], { env, stdio: ['ignore', 'inherit', 'pipe'] })
    child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
    const url = await pollUntil(
      'its first output',
      async () => /(?<=serving the API of \S+ at )https:\S+/.exec(output)?.[0],
      {
        timeoutMs: 20_000,
      },
    )
    const config = [...program, 'kubeconfig', '--break-glass', '--server', url, '-f', file]
    const { stdout } = await runProgram([process.execPath, ...config], { env })
    get = async (path) => {
      const api = new KubeApi(url, parseKubeconfig(stdout))
      return api.text(path).finally(() => api.close())
    }
  })
  afterAll(() => child.kill('SIGKILL'))

  /** Waits until the last line that the proxy printed about a server has this health. */
  async function waitForReportedHealth(host: Host, health: string): Promise<void> {
    const isReported = async (): Promise<boolean> =>
      output
        .split('\n')
        .findLast((line) => line.startsWith(`${host.name} at `))
        ?.includes(` is ${health} `) ?? false
    await pollUntil(`${host.name} to be ${health}`, isReported, { timeoutMs: 30_000 })
  }

  test('serves the API and reports the health of each control plane', async () => {
    for (const host of cluster.controlPlanes) await waitForReportedHealth(host, 'healthy')
    expect(await get('/version')).toContain('"gitVersion": "v1.37.1"')
  })

  test('serves the API while any one control plane hangs', async () => {
    for (const host of cluster.controlPlanes) {
      await signalApiServer(host, 'STOP')
      try {
        for (let time = 0; time < 3; time++) expect(await get('/readyz')).toBe('ok')
        await waitForReportedHealth(host, 'unhealthy')
        expect(await get('/api/v1/namespaces/default')).toContain('"Namespace"')
      } finally {
        await signalApiServer(host, 'CONT')
      }
      await waitForReportedHealth(host, 'healthy')
    }
  })

  test('exits with 130 after SIGINT', async () => {
    const ended = once(child, 'exit')
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
  })
})
