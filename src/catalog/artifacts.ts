import type { ChecksumFormat } from './checksum.ts'
import type { Release } from './kubernetes-release.ts'
import type { Arch, Os, Target } from './artifact-target.ts'

/** A file that upstream publishes, and where it says what the file's digest is. */
export interface UpstreamArtifact {
  readonly from: 'upstream'
  readonly component: string
  readonly version: string
  readonly os: Os
  readonly arch: Arch
  readonly url: string
  /** Without one, the digest can only be taken from the download itself. */
  readonly checksum: ChecksumFile | undefined
}

export interface ChecksumFile {
  readonly url: string
  readonly format: ChecksumFormat
}

/**
 * hyperkube itself. A host gets the very release that runs the command, which brings its own digest: there is nothing to
 * look up, so it has neither a version here nor a line in a lock.
 */
export interface OwnArtifact {
  readonly from: 'this-release'
  readonly component: 'hyperkube'
  readonly os: Os
  readonly arch: Arch
}

export type Artifact = UpstreamArtifact | OwnArtifact

/** All that a machine of a kind may need, whatever its role. */
export function artifactsFor(release: Release, target: Target): readonly Artifact[] {
  return [{ from: 'this-release', component: 'hyperkube', ...target }, ...upstreamArtifacts(release, target)]
}

/** The same without hyperkube itself: what a lock is about. */
export function upstreamArtifacts(release: Release, target: Target): readonly UpstreamArtifact[] {
  return programs[target.os].flatMap((program) => program(release, target))
}

type Publication = (release: Release, target: Target) => readonly UpstreamArtifact[]

const programs: Readonly<Record<Os, readonly Publication[]>> = {
  linux: [
    kubernetes([
      'kube-apiserver',
      'kube-controller-manager',
      'kube-scheduler',
      'kubelet',
      'kube-proxy',
      'kubectl',
    ]),
    etcd,
    containerd,
    runc,
    cniPlugins,
    flannel,
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
    names.map((component) => {
      const file = target.os === 'windows' ? `${component}.exe` : component
      const url = `https://dl.k8s.io/release/v${version}/bin/${target.os}/${target.arch}/${file}`
      return published(component, version, target, url, { url: `${url}.sha256`, format: 'bare' })
    })
}

function etcd({ etcd: version }: Release, target: Target): readonly UpstreamArtifact[] {
  const release = github('etcd-io/etcd', version)
  const url = `${release}/etcd-v${version}-${target.os}-${target.arch}.tar.gz`
  return [published('etcd', version, target, url, { url: `${release}/SHA256SUMS`, format: 'lines' })]
}

function containerd({ containerd: version }: Release, target: Target): readonly UpstreamArtifact[] {
  const release = github('containerd/containerd', version)
  const url = `${release}/containerd-${version}-${target.os}-${target.arch}.tar.gz`
  return [published('containerd', version, target, url, { url: `${url}.sha256sum`, format: 'lines' })]
}

function runc({ runc: version }: Release, target: Target): readonly UpstreamArtifact[] {
  const release = github('opencontainers/runc', version)
  const checksum = { url: `${release}/runc.sha256sum`, format: 'lines' } as const
  return [published('runc', version, target, `${release}/runc.${target.arch}`, checksum)]
}

function cniPlugins({ cniPlugins: version }: Release, target: Target): readonly UpstreamArtifact[] {
  const release = github('containernetworking/plugins', version)
  const url = `${release}/cni-plugins-${target.os}-${target.arch}-v${version}.tgz`
  return [published('cni-plugins', version, target, url, { url: `${url}.sha256`, format: 'lines' })]
}

/** Its releases come without checksum files. */
function flannel({ flannel: version }: Release, target: Target): readonly UpstreamArtifact[] {
  const file = target.os === 'windows' ? 'flanneld.exe' : `flanneld-${target.arch}`
  return [published('flannel', version, target, `${github('flannel-io/flannel', version)}/${file}`)]
}

function crictl({ crictl: version }: Release, target: Target): readonly UpstreamArtifact[] {
  const release = github('kubernetes-sigs/cri-tools', version)
  const url = `${release}/crictl-v${version}-${target.os}-${target.arch}.tar.gz`
  return [published('crictl', version, target, url, { url: `${url}.sha256`, format: 'bare' })]
}

/** Its releases come without checksum files, and for amd64 alone. */
function shawl({ shawl: version }: Release, target: Target): readonly UpstreamArtifact[] {
  const url = `${github('mtkennerly/shawl', version)}/shawl-v${version}-win64.zip`
  return [published('shawl', version, target, url)]
}

function published(
  component: string,
  version: string,
  target: Target,
  url: string,
  checksum?: ChecksumFile,
): UpstreamArtifact {
  return { from: 'upstream', component, version, ...target, url, checksum }
}

function github(repository: string, version: string): string {
  return `https://github.com/${repository}/releases/download/v${version}`
}
