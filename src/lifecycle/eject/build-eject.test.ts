import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { planCluster } from '../../plan/plan.ts'
import { buildPlanInput, parseTestCluster, testIdentity } from '../../plan/testing/fixtures.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { buildEject } from './build-eject.ts'
import { listComponentFates, listEndingUnits } from './component-fate.ts'
import { type EjectInput, isControlPlanePlan } from './eject-context.ts'
import type { EjectFile } from './eject-file.ts'

const examples = join(import.meta.dirname, '../../../examples')

function readExample(name: string): Cluster {
  return parseTestCluster(readFileSync(join(examples, `${name}.yml`), 'utf8'))
}

function buildInput(cluster: Cluster): EjectInput {
  const { plans } = planCluster(buildPlanInput(cluster))
  return { cluster, plans, cas: testIdentity.cas, serviceAccountKey: testIdentity.serviceAccountKeys }
}

const single = buildInput(readExample('single'))
const several = readExample('high-availability')
const withEndpoint = buildInput({
  ...several,
  spec: { ...several.spec, api: { ...several.spec.api, endpoint: 'api.example.com:6443' } },
})

function formatFile({ path, executable, content }: EjectFile): string {
  const text = content.kind === 'text' ? content.text : `${JSON.stringify(content)}\n`
  return `### ${path}${executable === true ? ' (executable)' : ''}\n${text}`
}

function readText(input: EjectInput, path: string): string {
  const content = buildEject(input).files.find((file) => file.path === path)?.content
  return content?.kind === 'text' ? content.text : ''
}

test.each([
  ['single', single, ''],
  ['high-availability-cp1', withEndpoint, 'hosts/cp1/'],
  ['high-availability-w1', withEndpoint, 'hosts/w1/'],
])('the golden files of %s', async (name, input, prefix) => {
  const { files, credentials } = buildEject(input)
  const selected = files.filter(({ path }) => path.startsWith(prefix))
  const specs = [...credentials]
    .filter(([credential]) => `hosts/${credential}`.startsWith(prefix))
    .map(([credential, spec]) => `${credential} ${JSON.stringify(spec)}\n`)
  const text = `${selected.map(formatFile).join('\n')}\n### credentials\n${specs.join('')}`
  await expect(text).toMatchFileSnapshot(join(import.meta.dirname, `testdata/${name}.txt`))
})

test.each([
  [undefined, true],
  ['rke1', true],
  ['kubeadm', false],
] as const)('the return of a cluster that came from %s', (adoptedFrom, isDeleted) => {
  const text = readText({ ...single, adoptedFrom }, 'README.md')
  expect(text.includes('kubectl delete -f cluster/objects.yaml')).toBe(isDeleted)
  expect(text).toContain('delete daemonset kube-proxy')
})

const adopted = buildInput({
  ...several,
  spec: {
    ...withEndpoint.cluster.spec,
    dns: 'none',
    network: { ...several.spec.network, plugin: 'none', kubeProxy: 'none' },
  },
})

test.each([
  [undefined, true],
  ['rke1', true],
  ['kubeadm', false],
] as const)(
  'kubeadm manages kube-proxy and CoreDNS that it installed before an adoption: %s',
  (adoptedFrom, disabled) => {
    const input = { ...adopted, adoptedFrom }
    const [, configuration] = parseAllDocuments(readText(input, 'hosts/cp1/kubeadm.yaml'))
    expect(configuration?.toJS()).toMatchObject({ dns: { disabled }, proxy: { disabled } })
    const rows = listComponentFates(input).filter(({ fate }) => fate === 'stays as it is')
    expect(rows.map(({ component }) => component)).toEqual(disabled ? [] : ['kube-proxy', 'coredns'])
    const text = readText(input, 'README.md')
    expect(/upgrade plan \S+ --ignore-preflight-errors/.test(text)).toBe(disabled)
    expect(text.includes("Without kubeadm's CoreDNS, also give")).toBe(!disabled)
    expect(text.includes('get daemonset/kube-proxy')).toBe(!disabled)
    expect(text.includes('cluster/before.yaml')).toBe(!disabled)
    expect(text.includes('KUBELET_EXTRA_ARGS')).toBe(!disabled)
  },
)

test('hyperkube manages CoreDNS of an adopted cluster again, and kubeadm does not', () => {
  const { cluster } = adopted
  const own = { ...cluster, spec: { ...cluster.spec, dns: several.spec.dns } }
  const input: EjectInput = { ...adopted, cluster: own, adoptedFrom: 'kubeadm' }
  const [, configuration] = parseAllDocuments(readText(input, 'hosts/cp1/kubeadm.yaml'))
  expect(configuration?.toJS()).toMatchObject({ dns: { disabled: true }, proxy: { disabled: false } })
})

function readObjects(input: EjectInput): readonly KubeObject[] {
  return parseAllDocuments(readText(input, 'cluster/objects.yaml')).map((one) => kubeObject.parse(one.toJS()))
}

const kubeObject = z.object({
  kind: z.string(),
  metadata: z.object({ name: z.string() }),
  data: z.record(z.string(), z.string()).optional(),
})
type KubeObject = z.infer<typeof kubeObject>

test('nodes that join later do not get the taints of a control plane', () => {
  const own = readText(withEndpoint, 'hosts/cp1/files/var/lib/kubelet/config.yaml')
  expect(own).toContain('registerWithTaints')
  const shared = readObjects(withEndpoint).find(({ metadata }) => metadata.name === 'kubelet-config')
  expect(shared?.data?.['kubelet']).toContain('kind: KubeletConfiguration')
  expect(shared?.data?.['kubelet']).not.toContain('registerWithTaints')
})

test('a host pulls the image of kube-proxy that the DaemonSet has, also with a kubelet of another version', () => {
  const older = buildInput({
    ...several,
    spec: { ...withEndpoint.cluster.spec, kubernetes: '1.36.4' },
  })
  const plans = [...withEndpoint.plans, ...older.plans].filter(
    (plan) => isControlPlanePlan(plan) === withEndpoint.plans.includes(plan),
  )
  const input = { ...withEndpoint, plans }
  const script = readText(input, 'hosts/w1/eject.sh')
  expect(script).toContain('version=v1.36.4')
  expect(script).toContain("images='registry.k8s.io/kube-proxy:v1.37.1'")
})

test('the README says what kubeadm does not do by itself', () => {
  const text = readText(withEndpoint, 'README.md')
  expect(text).toContain('stays at 3.7.3-0')
  expect(text).toContain('copy /etc/kubernetes/kube-apiserver of cp1')
  expect(text).toContain('metrics-server')
  const { cluster } = withEndpoint
  const without: EjectInput = {
    ...withEndpoint,
    cluster: { ...cluster, spec: { ...cluster.spec, metrics: 'none' } },
  }
  expect(readText(without, 'README.md')).not.toContain('metrics-server')
})

test.each([
  [{ user: 'root' }, {}, 'ssh root@', ' /root/eject/eject.sh'],
  [{ user: 'root', port: 2222 }, { user: 'admin' }, 'ssh -p 2222 admin@', " 'sudo /root/eject/eject.sh'"],
])('commands use the ssh settings %j of the cluster and %j of the host', (all, own, login, command) => {
  const hosts = several.spec.hosts.map((host) => ({ ...host, ssh: own }))
  const text = readText(
    { ...withEndpoint, cluster: { ...several, spec: { ...several.spec, ssh: all, hosts } } },
    'README.md',
  )
  expect(text).toContain(`\n${login}${hosts[0]?.address}${command}\n`)
  expect(text).toContain(`tar -cC hosts/cp1 . | ${login}`)
})

test('commands on a local host use no ssh', () => {
  const hosts = single.cluster.spec.hosts.map((host) => ({ ...host, local: true }))
  const cluster = { ...single.cluster, spec: { ...single.cluster.spec, hosts } }
  expect(readText({ ...single, cluster }, 'README.md')).toContain('&&\n/root/eject/eject.sh\n')
})

test('documents contain no secrets, and every named credential is described', () => {
  const { files, credentials } = buildEject(withEndpoint)
  const texts = files.flatMap(({ content }) => (content.kind === 'text' ? [content.text] : []))
  expect(texts.filter((text) => text.includes('PRIVATE KEY'))).toEqual([])
  const named = files.flatMap(({ content }) => ('credential' in content ? [content.credential] : []))
  expect(named.filter((credential) => !credentials.has(credential))).toEqual([])
})

test('each path is written once', () => {
  const paths = buildEject(withEndpoint).files.map(({ path }) => path)
  expect(paths).toEqual([...new Set(paths)])
})

const manifest = z.object({
  spec: z.object({
    containers: z.tuple([
      z.object({
        command: z.array(z.string()),
        volumeMounts: z.array(z.object({ mountPath: z.string() })),
      }),
    ]),
  }),
})

test.each(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'])(
  'the static pod of %s mounts every path in its flags, and none of hyperkube',
  (component) => {
    const text = readText(single, `hosts/one/files/etc/kubernetes/manifests/${component}.yaml`)
    const [{ command, volumeMounts }] = manifest.parse(parse(text)).spec.containers
    const paths = command.flatMap((flag) => /^--[\w-]+=(\/.*)$/.exec(flag)?.[1] ?? [])
    expect(paths.length).toBeGreaterThan(0)
    for (const path of paths)
      expect(
        volumeMounts.some(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`)),
        path,
      ).toBe(true)
    expect(text).not.toContain('hyperkube')
  },
)

test('every file in a flag of a static pod is written', () => {
  const written = new Set(buildEject(single).files.map(({ path }) => path.replace('hosts/one/files', '')))
  const text = readText(single, 'hosts/one/files/etc/kubernetes/manifests/kube-apiserver.yaml')
  const [{ command }] = manifest.parse(parse(text)).spec.containers
  const files = command.flatMap((flag) => /=(\/etc\/.*)$/.exec(flag)?.[1] ?? [])
  expect(files.filter((file) => !written.has(file))).toEqual([])
})

test('ClusterConfiguration has every flag that kubeadm would not set', () => {
  const [, configuration] = parseAllDocuments(readText(single, 'hosts/one/kubeadm.yaml')).map((one) =>
    z
      .looseObject({ apiServer: z.object({ extraArgs: z.array(z.object({ name: z.string() })) }).optional() })
      .parse(one.toJS()),
  )
  const names = configuration?.apiServer?.extraArgs.map(({ name }) => name) ?? []
  expect(names).toContain('encryption-provider-config')
  expect(names).not.toContain('etcd-servers')
  expect(names).not.toContain('kubelet-certificate-authority')
})

test('every service of a host either ends or is kept, and the agent ends first', () => {
  const kept = new Set(
    listComponentFates(withEndpoint)
      .filter(({ fate }) => fate === 'kept as service')
      .map(({ component }) => component),
  )
  for (const plan of withEndpoint.plans) {
    const ending = listEndingUnits(plan)
    expect(ending[0]).toBe('hyperkube-agent')
    const services = plan.components.filter(({ service }) => service !== undefined).map(({ name }) => name)
    expect(new Set([...ending, ...services.filter((name) => kept.has(name))])).toEqual(new Set(services))
  }
})
