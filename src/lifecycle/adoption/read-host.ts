import type { X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { inspectCertificate, parseCertificates } from '../../pki/certificates.ts'
import type { Remote } from '../../ssh/remote.ts'
import { hostScript, type HostSection, parseHostSections, splitLines } from './host-script.ts'
import type { AdoptedCertificate, AdoptedHost, CniConfiguration, VxlanLink } from './observation.ts'
import { parseFlags, parseYaml, readContainers, readStaticPods } from './read-components.ts'
import { readRuntimeSettings } from './read-runtime.ts'
import { readTimeoutMs } from './remote-file.ts'
import { readServerFiles } from './server-files.ts'

/** Reads a host over ssh. Nothing is installed or changed there. */
export async function readAdoptedHost(
  remote: Remote,
  address: string,
  signal: AbortSignal,
): Promise<AdoptedHost> {
  const options = { signal, root: true, timeout: readTimeoutMs }
  const { code, stdout } = await remote.exec(['sh', '-c', hostScript], options)
  const host = code === 0 ? parseAdoptedHost(address, stdout) : undefined
  if (host === undefined) {
    throw new HyperkubeError('ADOPT_HOST_NOT_READ', 'the host did not report its state', {
      host: address,
      hint: `check that a shell works there: ssh ${address} sudo sh -c true`,
    })
  }
  return { ...host, ...(await readServerFiles(remote, host, signal)) }
}

/** Parses the output of the host script. Returns undefined if the script did not run to its end. */
export function parseAdoptedHost(address: string, text: string): AdoptedHost | undefined {
  const sections = parseHostSections(text)
  const hostname = sections.output('hostname').trim().toLowerCase()
  const machineId = sections.output('machine-id').trim()
  if (hostname === '' || machineId === '') return undefined
  const files = sections.list('file')
  const { components: pods, others } = readStaticPods(
    files.filter(({ name }) => name.startsWith('/etc/kubernetes/manifests/')),
  )
  const components = [...pods, ...readContainers(sections.output('containers'))]
  const container = components.find(({ name }) => name === 'kubelet')
  const args = container?.args ?? parseFlags(sections.output('kubelet').trim().split('\n').slice(1))
  const certificates = [
    ...sections.list('certificates').flatMap(readCertificates),
    ...sections.list('kubeconfig').flatMap(readKubeconfigCertificates),
  ]
  const config = files.find(({ name }) => name === '/var/lib/kubelet/config.yaml')?.text ?? ''
  const docker = sections.output('docker').trim()
  const dockerSettings = splitLines(sections.output('docker-settings'))
  const root = /^root = ["'](.+)["']$/m.exec(sections.output('containerd-root'))?.[1]
  const { settings, ...runtime } = readRuntimeSettings(
    sections.output('containerd-settings'),
    sections.output('registry-hosts'),
  )
  const containerd = /\bv?(\d+\.\d+\.\d+\S*)/.exec(sections.output('containerd'))?.[1]
  return {
    address,
    hostname,
    // Only kubelets of kubeadm renew this certificate. With RKE1 it may be left from another cluster.
    nodeName:
      (container === undefined ? findNodeName(certificates) : undefined) ??
      args['hostname-override'] ??
      hostname,
    machineId,
    arch: sections.output('arch').trim(),
    distribution: /^PRETTY_NAME="?(.*?)"?$/m.exec(sections.output('os-release'))?.[1] ?? 'unknown',
    cgroup: sections.output('cgroup').trim() === 'cgroup2fs' ? 2 : 1,
    addresses: [...sections.output('addresses').matchAll(/ inet6? ([0-9a-f.:]+)\//g)].map(
      ([, ip = '']) => ip,
    ),
    components,
    otherStaticPods: others,
    certificates,
    kubelet: { args, config: record.catch({}).parse(parseYaml(config)) },
    // The runtime sorts all files by name. The shell lists them by the ends of their names first.
    cni: files
      .filter(({ name }) => name.startsWith('/etc/cni/'))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(readCni),
    vxlan: readVxlan(sections.output('vxlan')),
    services: [...sections.output('services').matchAll(/^\s*(\S+)\.service\s/gm)].map(
      ([, name = '']) => name,
    ),
    paths: splitLines(sections.output('paths')),
    serviceAccountKeys: Number(sections.output('public-keys').trim()),
    links: splitLines(sections.output('links')),
    runtime: {
      ...(containerd === undefined ? {} : { containerd }),
      ...(docker === '' ? {} : { docker }),
      ...(root === undefined ? {} : { root }),
      ...(dockerSettings.length === 0 ? {} : { dockerSettings }),
      ...(settings.length === 0 ? {} : { settings }),
      ...runtime,
    },
    dropIns: splitLines(sections.output('drop-ins')).filter(
      (path) =>
        /\/(?:containerd|kubelet|docker)\.service\.d\//.test(path) && !path.endsWith('/10-kubeadm.conf'),
    ),
    missingPrograms: splitLines(sections.output('missing-programs')),
    // Containers of pods have a second word.
    dockerContainers: splitLines(sections.output('docker-containers')).flatMap((line) => {
      const [name = '', type = ''] = line.split(' ')
      return type === '' ? [name] : []
    }),
  }
}

const record = z.record(z.string(), z.unknown())

function readCertificates({ name: path, text }: HostSection): AdoptedCertificate[] {
  return parseCertificates(text).map((certificate) => describeCertificate(path, certificate))
}

function describeCertificate(path: string, certificate: X509Certificate): AdoptedCertificate {
  const { commonName = '', isCa, notAfter, names } = inspectCertificate(certificate.toString())
  return {
    path,
    commonName,
    isCa,
    notAfter,
    fingerprint: certificate.fingerprint256,
    names: [...names.dns, ...names.ip],
  }
}

/** Reads the client certificates that are inside of a kubeconfig. */
function readKubeconfigCertificates({ name: path, text }: HostSection): AdoptedCertificate[] {
  return [...text.matchAll(/client-certificate-data: *(\S+)/g)].flatMap(([, data = '']) =>
    parseCertificates(Buffer.from(data, 'base64').toString('utf8')).map((certificate) =>
      describeCertificate(path, certificate),
    ),
  )
}

/** Finds the node name in the client certificate of the kubelet. */
function findNodeName(certificates: readonly AdoptedCertificate[]): string | undefined {
  const kubelet = certificates.find(({ path }) => path.endsWith('/kubelet-client-current.pem'))
  return /^system:node:(.+)$/.exec(kubelet?.commonName ?? '')?.[1]
}

const plugin = z.looseObject({ type: z.string() })
const cniFile = z.union([
  z.looseObject({ name: z.string().default(''), plugins: z.array(plugin).min(1) }),
  z.looseObject({ name: z.string().default(''), type: z.string() }).transform(({ name, type }) => ({
    name,
    plugins: [{ type }],
  })),
])

function readCni({ name: file, text }: HostSection): CniConfiguration[] {
  // JSON is also YAML.
  const { data } = cniFile.safeParse(parseYaml(text))
  return data === undefined ? [] : [{ file, name: data.name, types: data.plugins.map(({ type }) => type) }]
}

function readVxlan(text: string): VxlanLink[] {
  return text.split('\n').flatMap((line) => {
    const [, name = ''] = /^\d+: ([^:@]+)/.exec(line) ?? []
    const [, vni] = / vxlan id (\d+) /.exec(line) ?? []
    const [, port] = / dstport (\d+) /.exec(line) ?? []
    return vni === undefined || port === undefined ? [] : [{ name, vni: Number(vni), port: Number(port) }]
  })
}
