import { z } from 'zod'
import type { KubernetesRelease } from './catalog.ts'
import type { ChecksumFormat } from './checksum.ts'

/** A file that upstream publishes, and the location of its checksum. */
export interface UpstreamArtifact {
  readonly from: 'upstream'
  readonly component: string
  readonly version: string
  readonly os: Os
  readonly arch: Arch
  readonly url: string
  /** Undefined if upstream publishes no checksum. The digest is then computed from the first download. */
  readonly checksum: ChecksumFile | undefined
}

export interface ChecksumFile {
  readonly url: string
  readonly format: ChecksumFormat
}

/**
 * hyperkube itself. Hosts get the release that the operator runs and compute the digest from their copy.
 * Therefore the artifact has no version and no entry in the lock.
 */
export interface HyperkubeArtifact {
  readonly from: 'this-release'
  readonly component: 'hyperkube'
  readonly os: Os
  readonly arch: Arch
}

export type Artifact = UpstreamArtifact | HyperkubeArtifact

/** Lists all files that a host of this target may need, whatever its roles. */
export function artifactsFor(release: KubernetesRelease, target: ArtifactTarget): readonly Artifact[] {
  return [{ from: 'this-release', component: 'hyperkube', ...target }, ...upstreamArtifacts(release, target)]
}

/**
 * Lists all files that a host of this target may need, except hyperkube itself. These are the files that a
 * lock pins.
 */
export function upstreamArtifacts(
  release: KubernetesRelease,
  target: ArtifactTarget,
): readonly UpstreamArtifact[] {
  return programs[target.os].flatMap((program) => program(release, target))
}

/** Programs that run only on control planes and that a held upgrade replaces. */
export const controlPlanePrograms = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const
export type ControlPlaneProgram = (typeof controlPlanePrograms)[number]

/** Lists the files of the control plane programs for a target. A Windows host needs none. */
export function controlPlaneArtifacts(
  release: KubernetesRelease,
  target: ArtifactTarget,
): readonly UpstreamArtifact[] {
  const names: ReadonlySet<string> = new Set(controlPlanePrograms)
  return upstreamArtifacts(release, target).filter(({ component }) => names.has(component))
}

type Publication = (release: KubernetesRelease, target: ArtifactTarget) => readonly UpstreamArtifact[]

const programs: Readonly<Record<Os, readonly Publication[]>> = {
  linux: [
    kubernetes([...controlPlanePrograms, 'kubelet', 'kube-proxy', 'kubectl']),
    etcd,
    containerd,
    runc,
    cniPlugins,
    flannel,
    kubeRouter,
    crictl,
  ],
  windows: [
    kubernetes(['kubelet', 'kube-proxy', 'kubectl', 'kube-log-runner']),
    containerd,
    cniPlugins,
    flannel,
    shawl,
  ],
}

function kubernetes(names: readonly string[]): Publication {
  return ({ kubernetes: version }, target) =>
    names.map((component) => kubernetesArtifact(component, version, target))
}

/** Returns a program of Kubernetes. */
export function kubernetesArtifact(
  component: string,
  version: string,
  target: ArtifactTarget,
): UpstreamArtifact {
  const file = target.os === 'windows' ? `${component}.exe` : component
  const url = `https://dl.k8s.io/release/v${version}/bin/${target.os}/${target.arch}/${file}`
  return toUpstreamArtifact(component, version, target, url, { url: `${url}.sha256`, format: 'bare' })
}

function etcd({ etcd: version }: KubernetesRelease, target: ArtifactTarget): readonly UpstreamArtifact[] {
  const release = github('etcd-io/etcd', version)
  const url = `${release}/etcd-v${version}-${target.os}-${target.arch}.tar.gz`
  return [toUpstreamArtifact('etcd', version, target, url, { url: `${release}/SHA256SUMS`, format: 'lines' })]
}

function containerd(
  { containerd: version }: KubernetesRelease,
  target: ArtifactTarget,
): readonly UpstreamArtifact[] {
  const release = github('containerd/containerd', version)
  const url = `${release}/containerd-${version}-${target.os}-${target.arch}.tar.gz`
  return [
    toUpstreamArtifact('containerd', version, target, url, { url: `${url}.sha256sum`, format: 'lines' }),
  ]
}

function runc({ runc: version }: KubernetesRelease, target: ArtifactTarget): readonly UpstreamArtifact[] {
  const release = github('opencontainers/runc', version)
  const checksum = { url: `${release}/runc.sha256sum`, format: 'lines' } as const
  return [toUpstreamArtifact('runc', version, target, `${release}/runc.${target.arch}`, checksum)]
}

function cniPlugins(
  { cniPlugins: version }: KubernetesRelease,
  target: ArtifactTarget,
): readonly UpstreamArtifact[] {
  const release = github('containernetworking/plugins', version)
  const url = `${release}/cni-plugins-${target.os}-${target.arch}-v${version}.tgz`
  return [toUpstreamArtifact('cni-plugins', version, target, url, { url: `${url}.sha256`, format: 'lines' })]
}

/** Lists the files of flannel, which publishes no checksums. */
function flannel(
  { flannel: version }: KubernetesRelease,
  target: ArtifactTarget,
): readonly UpstreamArtifact[] {
  const file = target.os === 'windows' ? 'flanneld.exe' : `flanneld-${target.arch}`
  return [toUpstreamArtifact('flannel', version, target, `${github('flannel-io/flannel', version)}/${file}`)]
}

function kubeRouter(
  { kubeRouter: version }: KubernetesRelease,
  target: ArtifactTarget,
): readonly UpstreamArtifact[] {
  const release = github('cloudnativelabs/kube-router', version)
  const url = `${release}/kube-router_${version}_${target.os}_${target.arch}.tar.gz`
  const checksum = { url: `${release}/kube-router_${version}_checksums.txt`, format: 'lines' } as const
  return [toUpstreamArtifact('kube-router', version, target, url, checksum)]
}

function crictl({ crictl: version }: KubernetesRelease, target: ArtifactTarget): readonly UpstreamArtifact[] {
  const release = github('kubernetes-sigs/cri-tools', version)
  const url = `${release}/crictl-v${version}-${target.os}-${target.arch}.tar.gz`
  return [toUpstreamArtifact('crictl', version, target, url, { url: `${url}.sha256`, format: 'bare' })]
}

/** Lists the file of shawl. Upstream publishes no checksums, and builds shawl only for amd64. */
function shawl({ shawl: version }: KubernetesRelease, target: ArtifactTarget): readonly UpstreamArtifact[] {
  const url = `${github('mtkennerly/shawl', version)}/shawl-v${version}-win64.zip`
  return [toUpstreamArtifact('shawl', version, target, url)]
}

/** Version of Helm that renders charts. Its command line is part of hyperkube, so the catalog has no entry. */
export const helmVersion = '4.3.1'

/** Lists the archive of Helm for a target. Helm runs on the operator's machine, which must have Linux. */
export function helmArtifacts(target: ArtifactTarget): readonly UpstreamArtifact[] {
  if (target.os !== 'linux') return []
  const url = `https://get.helm.sh/helm-v${helmVersion}-${target.os}-${target.arch}.tar.gz`
  const checksum = { url: `${url}.sha256sum`, format: 'lines' } as const
  return [toUpstreamArtifact('helm', helmVersion, target, url, checksum)]
}

function toUpstreamArtifact(
  component: string,
  version: string,
  target: ArtifactTarget,
  url: string,
  checksum?: ChecksumFile,
): UpstreamArtifact {
  return { from: 'upstream', component, version, ...target, url, checksum }
}

function github(repository: string, version: string): string {
  return `https://github.com/${repository}/releases/download/v${version}`
}

export const archSchema = z.enum(['amd64', 'arm64'])
export type Arch = z.infer<typeof archSchema>

/**
 * Operating system and architecture of a host. Windows is limited to amd64, because upstream publishes no
 * other programs for Windows nodes.
 */
export type ArtifactTarget =
  | { readonly os: 'linux'; readonly arch: Arch }
  | { readonly os: 'windows'; readonly arch: 'amd64' }
export type Os = ArtifactTarget['os']

/** All combinations of operating system and architecture for which the catalog has files. */
export const catalogTargets: readonly ArtifactTarget[] = [
  { os: 'linux', arch: 'amd64' },
  { os: 'linux', arch: 'arm64' },
  { os: 'windows', arch: 'amd64' },
]

/** Path of upstream's conformance tests in the archive. */
export const conformanceBinaryPath = 'kubernetes/test/bin/e2e.test'

/** Returns the archive with upstream's conformance tests for a target. Hosts of a cluster do not need it. */
export function conformanceArtifact(version: string, target: ArtifactTarget): UpstreamArtifact {
  const url = `https://dl.k8s.io/v${version}/kubernetes-test-${target.os}-${target.arch}.tar.gz`
  return {
    from: 'upstream',
    component: 'kubernetes-test',
    version,
    ...target,
    url,
    checksum: { url: `${url}.sha256`, format: 'bare' },
  }
}
