import { expect, test } from 'vitest'
import { createCa } from '../../pki/ca.ts'
import { year } from '../../pki/lifetime.ts'
import { makeRequest } from '../../pki/request.ts'
import { signRequest } from '../../pki/sign.ts'
import { hostScript } from './host-script.ts'
import { parseAdoptedHost, readAdoptedHost } from './read-host.ts'
import { readRemoteFile } from './remote-file.ts'
import { parseEncryption } from './server-files.ts'
import { createFakeRemote, renderSections } from './testing/fake-host.ts'

const now = new Date('2026-11-18T07:00:00Z')
const ca = await createCa('kubernetes', 10 * year, now)

async function issueNodeCertificate(name: string): Promise<string> {
  const subject = { commonName: `system:node:${name}`, organizations: ['system:nodes'] }
  const names = { dns: [], ip: [] }
  const { request } = await makeRequest('kubelet', subject, names)
  return signRequest(ca, request, { subject, names, usages: ['client'], lifetime: year }, now)
}

const certificate = await issueNodeCertificate('w1.example.com')

const sections = {
  'output hostname': 'W1\n',
  'output machine-id': '7ad2f3\n',
  'output arch': 'x86_64\n',
  'output os-release': 'ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
  'output cgroup': 'cgroup2fs\n',
  'output addresses':
    '2: eth0    inet 10.0.0.4/24 brd 10.0.0.255 scope global eth0\\ valid\n2: eth0    inet6 fd00::4/64 scope global \\ valid\n',
  'output vxlan':
    '5: flannel.1: <BROADCAST> mtu 1450 qdisc noqueue state UNKNOWN \\    vxlan id 1 local 10.0.0.4 dev eth0 srcport 0 0 dstport 8472 nolearning ttl auto \n',
  'output services':
    'containerd.service loaded active running containerd\nkubelet.service loaded active running kubelet\n',
  'output kubelet': '/usr/bin/kubelet\n--config=/var/lib/kubelet/config.yaml\n--node-ip=10.0.0.4\n',
  'output containerd': 'containerd github.com/containerd/containerd v2.1.4 75cb2b\n',
  'output containerd-root': "root = '/data/containerd'\n",
  'output containerd-settings': `[plugins]
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = 'nvidia'
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes]
        [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia]
          [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia.options]
            SystemdCgroup = false
        [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
          [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
            SystemdCgroup = true
    [plugins.'io.containerd.cri.v1.runtime'.cni]
      bin_dir = ''
      bin_dirs = ['/opt/cni/bin', "/usr/lib/cni"]
  [plugins.'io.containerd.image-verifier.v1.bindir']
    bin_dir = '/opt/containerd/image-verifier/bin'
      [plugins."io.containerd.grpc.v1.cri".registry.configs."reg.example:5000".tls]
`,
  'output registry-hosts': '/etc/containerd/certs.d/docker.io/\n',
  'output drop-ins':
    '/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf\n/usr/lib/systemd/system/service.d/10-all.conf\n\n/etc/systemd/system/containerd.service.d/http-proxy.conf\n',
  'output docker': '',
  'output docker-settings': 'an HTTP proxy\nthe insecure registry reg.shop.example\n',
  'output missing-programs': 'mount.nfs\niscsiadm\n',
  'output docker-containers': 'kubelet\n/k8s_POD_a podsandbox\nnginx-proxy \n',
  'output paths': '/etc/kubernetes/manifests\n',
  'output public-keys': '2\n',
  'output links': '/var/lib/kubelet\n',
  'file /var/lib/kubelet/config.yaml': 'clusterDomain: cluster.local\nmaxPods: 200\n',
  'file /etc/cni/net.d/99-loopback.conf': '{"type":"loopback"}',
  'file /etc/cni/net.d/10-flannel.conflist':
    '{"name":"cbr0","plugins":[{"type":"flannel"},{"type":"portmap"}]}',
  'certificates /var/lib/kubelet/pki/kubelet-client-current.pem': certificate,
  'kubeconfig /etc/kubernetes/kubelet.conf': `    server: https://10.0.0.1:6443\n    client-certificate-data: ${Buffer.from(ca.certificate).toString('base64')}\n`,
}

test('the output of the script becomes the observation of a host', () => {
  const host = parseAdoptedHost('10.0.0.4', `a banner of the shell\n${renderSections(sections)}`)
  expect(host).toMatchObject({
    hostname: 'w1',
    nodeName: 'w1.example.com',
    machineId: '7ad2f3',
    distribution: 'Debian GNU/Linux 12 (bookworm)',
    cgroup: 2,
    addresses: ['10.0.0.4', 'fd00::4'],
    serviceAccountKeys: 2,
    links: ['/var/lib/kubelet'],
    vxlan: [{ name: 'flannel.1', vni: 1, port: 8472 }],
    services: ['containerd', 'kubelet'],
    kubelet: { args: { 'node-ip': '10.0.0.4' }, config: { maxPods: 200 } },
    cni: [{ types: ['flannel', 'portmap'] }, { types: ['loopback'] }],
    runtime: {
      containerd: '2.1.4',
      root: '/data/containerd',
      dockerSettings: ['an HTTP proxy', 'the insecure registry reg.shop.example'],
      settings: [
        'default runtime nvidia',
        'runtime nvidia',
        'registry reg.example:5000',
        'registry docker.io',
      ],
      systemdCgroup: true,
      pluginDirectories: ['/opt/cni/bin', '/usr/lib/cni'],
    },
    dropIns: ['/etc/systemd/system/containerd.service.d/http-proxy.conf'],
    missingPrograms: ['mount.nfs', 'iscsiadm'],
    dockerContainers: ['kubelet', 'nginx-proxy'],
  })
  expect(host?.certificates.map(({ commonName, isCa }) => [commonName, isCa])).toEqual([
    ['system:node:w1.example.com', false],
    ['kubernetes-ca', true],
  ])
})

test('all manifests are read, because the kubelet ignores the ends of their names', () => {
  expect(hostScript).toMatch(/^files \/etc\/kubernetes\/manifests\/\*$/m)
})

test('truncated or foreign output is no observation', () => {
  const text = renderSections(sections)
  expect(parseAdoptedHost('10.0.0.4', '')).toBeUndefined()
  expect(parseAdoptedHost('10.0.0.4', 'permission denied')).toBeUndefined()
  for (let length = 0; length < text.length; length += 97) parseAdoptedHost('10.0.0.4', text.slice(0, length))
})

test('only the script and the encryption configuration are read, and keys of the latter are dropped', async () => {
  const encryption = `resources:
  - resources: [secrets]
    providers:
      - aescbc: { keys: [{ name: key1, secret: c2VjcmV0 }] }
      - identity: {}
`
  const digest = 'a1'.repeat(32)
  const manifest = `metadata: { name: kube-apiserver }
spec: { containers: [{ command: [kube-apiserver, --encryption-provider-config=/etc/kubernetes/enc.yaml, --service-account-signing-key-file=/etc/kubernetes/pki/sa.key] }] }`
  const controlPlane = { ...sections, 'file /etc/kubernetes/manifests/kube-apiserver.yaml': manifest }
  const { remote, commands } = createFakeRemote({
    sh: renderSections(controlPlane),
    cat: encryption,
    sha256sum: `${digest}  /etc/kubernetes/pki/sa.key\n`,
  })
  const host = await readAdoptedHost(remote, '10.0.0.4', new AbortController().signal)
  expect(commands).toEqual([
    'sh -c SCRIPT',
    'sha256sum -- /etc/kubernetes/pki/sa.key',
    'sha256sum -- /etc/kubernetes/enc.yaml',
    'cat -- /etc/kubernetes/enc.yaml',
  ])
  expect(host.keyDigests).toEqual({ serviceAccount: digest, encryption: digest })
  expect(host.encryption).toEqual([{ resources: ['secrets'], providers: ['aescbc', 'identity'] }])
  expect(JSON.stringify(host)).not.toContain('c2VjcmV0')
  expect(parseEncryption('not: [valid')).toEqual([])
})

test('the admission configuration is read at its path on the host', async () => {
  const line = JSON.stringify([
    'kube-apiserver',
    '--admission-control-config-file=/etc/kubernetes/admission.yaml',
  ])
  const mounts = JSON.stringify([{ Source: '/opt/rke/etc/kubernetes', Destination: '/etc/kubernetes' }])
  const { remote, commands } = createFakeRemote({
    sh: renderSections({
      ...sections,
      'output containers': `"/kube-apiserver" ${line} ${mounts} "image" true\n`,
    }),
    cat: 'kind: AdmissionConfiguration\nplugins: [{ name: EventRateLimit, path: limits.yaml }]\n',
  })
  const host = await readAdoptedHost(remote, '10.0.0.4', new AbortController().signal)
  expect(commands).toEqual(['sh -c SCRIPT', 'cat -- /opt/rke/etc/kubernetes/admission.yaml'])
  expect(host.admission).toEqual({ plugins: ['EventRateLimit'] })
})

test('a host that reports nothing, and a missing file, are errors with a next step', async () => {
  const { signal } = new AbortController()
  const { remote } = createFakeRemote({ sh: '' })
  await expect(readAdoptedHost(remote, '10.0.0.4', signal)).rejects.toMatchObject({
    code: 'ADOPT_HOST_NOT_READ',
    hint: expect.stringContaining('ssh 10.0.0.4'),
  })
  await expect(readRemoteFile(remote, '/etc/kubernetes/pki/ca.key', signal)).rejects.toMatchObject({
    code: 'ADOPT_FILE_NOT_READ',
  })
})

test('the node name of RKE1 comes from its kubelet, not from a certificate of a previous cluster', () => {
  const args = JSON.stringify(['kubelet', '--hostname-override=10.0.0.4'])
  const host = parseAdoptedHost(
    '10.0.0.4',
    renderSections({ ...sections, 'output containers': `"/kubelet" ${args} [] "image" true\n` }),
  )
  expect(host?.nodeName).toBe('10.0.0.4')
})
