import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { openApi } from '../support/adoption/adoption-load.ts'
import {
  adoptCluster,
  formatDate,
  formatPageName,
  readClusterId,
  readSuiteOptions,
  runCommand,
  writeEvidence,
} from '../support/adoption/adoption-suite.ts'
import { type AdoptedCluster, requireFirstHost } from '../support/adoption/contender.ts'
import { waitForNodes } from '../support/adoption/nodes.ts'
import { SuiteSetup } from '../support/adoption/suite-setup.ts'
import { Workload } from '../support/adoption/workload.ts'
import { installKubeadm, runEjectScript, sendEjectFiles } from '../support/eject.ts'
import { etcdctl } from '../support/etcdctl.ts'
import { openKubectl } from '../support/kubectl.ts'

const timeout = 2_400_000
const { contender, shape } = readSuiteOptions('1+1')

describe(`${contender.title} is adopted, committed and handed over to kubeadm, ${shape}`, () => {
  const setup = new SuiteSetup()
  let cluster: AdoptedCluster
  let api: KubeApi
  let workload: Workload
  let clusterId = ''
  let members = ''
  let podsBefore: ReadonlyMap<string, number> = new Map()
  const rows: string[] = []
  let upgradeCommand = ''
  let upgradePlan = ''

  const directory = (): string => cluster.path('eject')
  const listNames = (): readonly string[] => cluster.hosts.map(({ name }) => name)

  async function runKubectl(...args: readonly string[]): Promise<void> {
    const withFile: AdoptedCluster['hyperkube'] = async (...command) =>
      cluster.hyperkube(...command, '-f', cluster.path('cluster.yml'))
    await using kubectl = await openKubectl(
      { directory: cluster.directory, hyperkube: withFile },
      contender.version,
    )
    await kubectl.run(...args)
  }

  /** Follows the instructions for a cluster without CoreDNS, because the lab installs none with kubeadm. */
  async function disableDns(readme: string): Promise<void> {
    const [flag = ''] = /--ignore-preflight-errors=\w+,\w+/.exec(readme) ?? []
    upgradeCommand = `${upgradeCommand} ${flag}`
    const file = join(directory(), 'cluster/objects.yaml')
    const text = await readFile(file, 'utf8')
    const changed = text.replace(/(dns:\s+disabled: )false/, '$1true')
    expect(changed).not.toBe(text)
    await writeFile(file, changed)
  }

  /** Reads why the Job with which kubeadm checks the cluster did not complete. */
  async function describeHealthCheck(): Promise<string> {
    const kubectl = 'kubectl --kubeconfig=/etc/kubernetes/admin.conf -n kube-system'
    const { stdout } = await requireFirstHost(cluster).script(
      `${kubectl} get pods -o wide; ${kubectl} get events --sort-by=.lastTimestamp | grep upgrade-health-check || true`,
    )
    return stdout
  }

  async function readMembers(): Promise<string> {
    return (await requireFirstHost(cluster).script(`${etcdctl} member list`)).stdout
  }

  /** Expects the same cluster, with the same containers of the workload. */
  async function expectSame(): Promise<void> {
    await waitForNodes(api, cluster, listNames())
    await workload.waitUntilReady(api)
    expect(await workload.findProblems(api)).toEqual([])
    expect(await readClusterId(api)).toBe(clusterId)
    expect(await readMembers()).toBe(members)
    expect(await workload.readPods(api)).toEqual(podsBefore)
  }

  beforeAll(async () => {
    cluster = setup.use(
      await contender.create({
        name: `eject-${contender.name}`,
        shape,
        executable: inject('executable'),
        // The health check of kubeadm 1.32 runs a Job with this pause image.
        parts: ['agnhost', 'traefik', ...(contender.version === 'v1.32.5' ? ['pause@v3.10'] : [])],
      }),
    )
    api = openApi(cluster, cluster.credentials)
    setup.defer(() => api.close())
    workload = await Workload.create(cluster, api)
    await waitForNodes(api, cluster, [])
    await adoptCluster(cluster)
    await runCommand(cluster, 0, 'up', '--yes')
    await runCommand(cluster, 0, 'adopt', 'commit', '--yes')
    await installKubeadm(cluster.hosts, cluster.mirror, contender.version)
    await waitForNodes(api, cluster, listNames())
    await workload.waitUntilReady(api)
    clusterId = await readClusterId(api)
    members = await readMembers()
    podsBefore = await workload.readPods(api)
    setup.complete()
  }, timeout)
  afterAll(async () => setup.end(), timeout)

  test('eject writes the files of all hosts', { timeout }, async () => {
    const { stderr } = await runCommand(cluster, 0, 'eject', '--to', 'kubeadm', '--out', directory(), '--yes')
    process.stderr.write(stderr)
    const readme = await readFile(join(directory(), 'README.md'), 'utf8')
    upgradeCommand = /kubeadm upgrade plan v[^'\n`]*/.exec(readme)?.[0] ?? ''
    expect(upgradeCommand).toContain(contender.version)
    if (contender.name === 'kubeadm') await disableDns(readme)
    await runKubectl(
      ...['apply', '--server-side', '--force-conflicts'],
      ...['nodes.yaml', 'objects.yaml'].flatMap((file) => ['-f', join(directory(), 'cluster', file)]),
    )
  })

  test('the hosts move, with the same data and the same containers', { timeout }, async () => {
    for (const host of cluster.hosts) {
      await sendEjectFiles(host, directory())
      rows.push(`| \`eject.sh\` on ${host.name} | ${(await runEjectScript(host)).toFixed(0)} s |`)
      await waitForNodes(api, cluster, listNames())
    }
    await expectSame()
    for (const host of cluster.hosts) {
      const { stdout } = await host.script(
        'systemctl is-active hyperkube-agent etcd kube-apiserver apiserver-proxy || true',
      )
      expect(new Set(stdout.trim().split('\n')), host.name).toEqual(new Set(['inactive']))
    }
  })

  test('kubeadm upgrade plan ends with 0, with the command of the instructions', { timeout }, async () => {
    const planned = ['sh', '-c', `${upgradeCommand} 2>&1`] as const
    const { code, stdout } = await requireFirstHost(cluster).exec(planned, { allowFailure: true })
    process.stderr.write(stdout)
    // The events show why kubeadm failed. kubeadm soon deletes the Job of its health check.
    if (code !== 0) process.stderr.write(await describeHealthCheck())
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('[upgrade/versions]') })
    const certificates = await requireFirstHost(cluster).script('kubeadm certs check-expiration 2>&1')
    const missing = certificates.stdout.split('\n').filter((line) => line.startsWith('!MISSING!'))
    // Only kubeadm init writes super-admin.conf, on one control plane.
    expect(missing.filter((line) => !line.includes('super-admin.conf'))).toEqual([])
    const versions = stdout.split('\n').filter((line) => line.includes('versions]'))
    upgradePlan = `${upgradeCommand}\n\n${versions.join('\n')}`
  })

  test('--undo returns the hosts to hyperkube, which has nothing to change', { timeout }, async () => {
    for (const host of cluster.hosts.toReversed()) {
      rows.push(
        `| \`eject.sh --undo\` on ${host.name} | ${(await runEjectScript(host, '--undo')).toFixed(0)} s |`,
      )
      await waitForNodes(api, cluster, listNames())
    }
    // Objects of these names were in a cluster of kubeadm before the adoption, so its instructions keep them.
    if (contender.name !== 'kubeadm')
      await runKubectl('delete', '--ignore-not-found', '-f', join(directory(), 'cluster/objects.yaml'))
    await expectSame()
    await runCommand(cluster, 0, 'plan')
    // The page says that the plan of kubeadm succeeded.
    expect(upgradePlan).not.toBe('')
    await writeEvidence(formatPageName('adopt-eject', contender, shape), formatEvidence())
  })

  function formatEvidence(): string {
    return `# ${contender.title.replace(/^a/, 'A')} adopted, then handed over to kubeadm and back, ${shape}

Written by \`test/full/adopt-eject.test.ts\` on ${formatDate()}: ${contender.describe(shape)}
The machine has two cores, and other work shared it.

hyperkube adopted the cluster, moved its hosts and committed the adoption. Then \`hyperkube eject --to kubeadm\` wrote the files.

| run | time |
|---|---|
${rows.join('\n')}

The test also shows, after all hosts had moved and after all had returned:

- The cluster, the members of etcd, and the pods of the workload with their containers were the same. Secrets, custom resources and the logs of
  the StatefulSet had their values${contender.enforcesPolicies ? ', and the NetworkPolicy was enforced' : ''}.
- After the return, \`hyperkube plan\` had no changes.

While the hosts were with kubeadm, \`kubeadm certs check-expiration\` found all certificates except super-admin.conf. This command ended with 0:

\`\`\`
${upgradePlan}
\`\`\`

Not shown: several control planes, \`kubeadm upgrade apply\`, a reboot, and requests during the change.
`
  }
})
