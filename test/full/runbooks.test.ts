import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { settleAll } from '../../src/kit/concurrency.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { openFreshLab, startHostsOnDisk } from '../support/lab.ts'
import { listNodeNames, listReadyNodes, listVoters } from '../support/membership.ts'
import { createOperator, type Operator } from '../support/operator.ts'

/**
 * Follows the runbooks docs/how-to/runbook-api-down.md and runbook-node-lost.md. Each test injects the fault
 * of one branch, expects the findings that lead to this branch, and runs the commands of the branch. Each
 * test continues with the cluster of the previous test. losses.test.ts and restore.test.ts follow the runbook
 * of the etcd quorum.
 */
const controlPlanes = ['cp1', 'cp2', 'cp3']
/** `cp4` is the machine that replaces a lost control plane. */
const names = [...controlPlanes, 'w1', 'w2', 'cp4']

let lab: Lab
let hosts: ReadonlyMap<string, Host>
let operator: Operator
let api: KubeApi

beforeAll(async () => {
  lab = await openFreshLab('runbooks')
  const all = await startHostsOnDisk(lab, names)
  hosts = new Map(all.map((host) => [host.name, host]))
  operator = await createOperator(
    lab,
    all.filter(({ name }) => name !== 'cp4'),
    '1.37.1',
  )
  // A small quota makes it possible to fill etcd in seconds.
  await operator.edit((document) =>
    document.setIn(['spec', 'components', 'etcd', 'args', 'quota-backend-bytes'], String(24 * 2 ** 20)),
  )
  await operator.must(0, 'up', '--yes')
  api = new KubeApi(
    `https://${hostNamed('cp1').address}:6443`,
    parseKubeconfig((await operator.must(0, 'kubeconfig')).stdout),
  )
}, 900_000)
afterAll(async () => {
  api.close()
  try {
    await operator.close()
  } finally {
    await lab.down()
  }
})

describe('the API is down', { timeout: 900_000 }, () => {
  test('B: control planes that were off recover without a command', async () => {
    await cutPower(...controlPlanes)
    const codes = await waitForCodes(...controlPlanes.map((name) => `HOST_UNREACHABLE ${name}`))
    expect(codes.filter((code) => /^(API_DOWN|ETCD_QUORUM_LOST|NO_HOST_REACHABLE)/.test(code))).toEqual([])
    for (const name of controlPlanes) await lab.start(name)
    await expectHealthy()
  })

  test('C: the kubeconfig has a context for each control plane, and the proxy serves the API', async () => {
    const { stdout } = await operator.must(0, 'kubeconfig')
    const { contexts } = z
      .looseObject({ contexts: z.array(z.looseObject({ name: z.string() })) })
      .parse(parse(stdout))
    expect(contexts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(controlPlanes.map((name) => `lab-${name}`)),
    )
    for (const name of controlPlanes) {
      const direct = new KubeApi(`https://${hostNamed(name).address}:6443`, parseKubeconfig(stdout))
      expect(await listReadyNodes(direct)).toEqual(names.filter((one) => one !== 'cp4'))
      direct.close()
    }
  })

  test('E: heal resume restarts API servers that were stopped while healing was paused', async () => {
    await operator.must(0, 'heal', 'pause', ...controlPlanes, '--for', '2h', '--yes')
    await settleAll(
      controlPlanes.map(async (name) => hostNamed(name).script('systemctl stop kube-apiserver')),
    )
    const codes = await waitForCodes('API_DOWN')
    expect(codes.filter((code) => code.startsWith('HEAL_PAUSED'))).toHaveLength(3)
    await operator.must(0, 'logs', 'kube-apiserver', 'etcd', '--since', '10m')
    await operator.must(0, 'heal', 'resume', ...controlPlanes, '--yes')
    await expectHealthy()
  })

  test('F: the steps of the runbook end the space alarm of etcd', async () => {
    const data = { text: 'x'.repeat(900_000) }
    const fill = async (): Promise<boolean> => {
      for (let index = 0; index < 40; index++) {
        const metadata = { name: `fill-${index}` }
        await api.create('/api/v1/namespaces/default/configmaps', {
          ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data },
        })
      }
      return false
    }
    expect(await fill().catch(String)).toContain('database space exceeded')
    const codes = await waitForCodes('ETCD_ALARM_SPACE')
    expect(codes.filter((code) => code.startsWith('API_DOWN'))).toEqual([])
    await operator.must(0, 'etcd', 'snapshot', 'save', 'before-defrag')
    for (let index = 0; index < 40; index++)
      await api.remove(`/api/v1/namespaces/default/configmaps/fill-${index}`).catch(() => undefined)
    const { stdout } = await hostNamed('cp1').script(
      `${etcdctl}; etcdctl endpoint status --write-out=json | grep -o '"revision":[0-9]*'`,
    )
    await hostNamed('cp1').script(`${etcdctl}; etcdctl compact ${stdout.trim().split(':')[1]}`)
    for (const name of controlPlanes) {
      await hostNamed(name).script(`${etcdctl}; etcdctl defrag`)
      await pollUntil(
        'all members to be ready',
        // `etcd status` exits with 1 while the alarm is active, so only its output is checked.
        async () => (await countReadyMembers()) === controlPlanes.length,
        { timeoutMs: 60_000, intervalMs: 1000 },
      )
    }
    await hostNamed('cp1').script(`${etcdctl}; etcdctl alarm disarm`)
    await expectHealthy()
  })
})

describe('a node is lost', { timeout: 900_000 }, () => {
  test('E: a worker that was off recovers without a command', async () => {
    await cutPower('w1')
    await waitForCodes('HOST_UNREACHABLE w1')
    await lab.start('w1')
    await expectHealthy()
  })

  test('F: a permanently lost worker is removed', async () => {
    await cutPower('w1')
    await operator.must(3, 'node', 'remove', 'w1', '--dry-run')
    const { stderr } = await operator.must(0, 'node', 'remove', 'w1', '--yes')
    expect(stderr).toContain('ROLLOUT_REMOVED_UNREACHABLE')
    expect(await listNodeNames(api)).toEqual([...controlPlanes, 'w2'])
  })

  test('G: a permanently lost control plane is replaced', async () => {
    await cutPower('cp3')
    // etcd must have a quorum without the lost member before the member can be replaced.
    expect(await countReadyMembers()).toBe(2)
    const args = ['node', 'replace', 'cp3', '--by', 'cp4', '--address', hostNamed('cp4').address]
    await operator.must(3, ...args, '--dry-run')
    await operator.must(0, ...args, '--yes')
    expect(await listVoters(hostNamed('cp1'))).toEqual(['cp1', 'cp2', 'cp4'])
    await operator.must(0, 'etcd', 'status')
    await expectHealthy()
  })
})

async function countReadyMembers(): Promise<number> {
  const { stdout } = await operator.hyperkube('etcd', 'status')
  return stdout.match(/\bready\b/g)?.length ?? 0
}

/** Definition of the shell function `etcdctl`, as in the runbook. */
const etcdctl = `etcdctl() { "$(ls -d /opt/hyperkube/etcd-*/etcdctl | tail -n 1)" --endpoints=https://127.0.0.1:2379 --cacert=/etc/hyperkube/etcd/ca.crt --cert=/etc/hyperkube/etcd/client.crt --key=/etc/hyperkube/etcd/client.key "$@"; }`

const report = z.looseObject({
  findings: z.array(z.looseObject({ code: z.string(), host: z.string().optional() })),
})

/** Runs `doctor` and returns its findings as `CODE HOST`. */
async function readCodes(): Promise<readonly string[]> {
  const { stdout, stderr } = await operator.hyperkube('doctor', '-o', 'json')
  if (stdout === '') throw new Error(`doctor printed no report: ${stderr}`)
  return report.parse(JSON.parse(stdout)).findings.map(({ code, host }) => `${code} ${host ?? ''}`.trim())
}

/** Waits until `doctor` reports all these findings. Each is a code, or `CODE HOST`. */
async function waitForCodes(...expected: readonly string[]): Promise<readonly string[]> {
  const isReported = async (): Promise<readonly string[] | undefined> => {
    const codes = await readCodes()
    return expected.every((one) => codes.some((code) => code.startsWith(one))) ? codes : undefined
  }
  const codes = await pollUntil(`doctor to report ${expected.join()}`, isReported, {
    timeoutMs: 180_000,
    intervalMs: 2000,
  })
  process.stderr.write(`${expected.join()}: ${codes.join(', ')}\n`)
  return codes
}

/** Follows the last section of the runbooks: `doctor` must find nothing, and `up` must have nothing to do. */
async function expectHealthy(): Promise<void> {
  const began = Date.now()
  await pollUntil('doctor to find nothing', async () => (await operator.hyperkube('doctor')).code === 0, {
    timeoutMs: 300_000,
    intervalMs: 2000,
  })
  process.stderr.write(`no problems after ${Math.round((Date.now() - began) / 1000)} s\n`)
  expect((await operator.must(0, 'up', '--yes')).stderr).toContain('nothing to do')
}

async function cutPower(...lost: readonly string[]): Promise<void> {
  await settleAll(lost.map(async (name) => hostNamed(name).powerCut()))
}

function hostNamed(name: string): Host {
  const found = hosts.get(name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}
