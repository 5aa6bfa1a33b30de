import type { Part } from '../components/parts.ts'
import { type Arch, formatProgramFile } from '../components/recipe.ts'
import type { Image } from './image.ts'
import { formatImagePath, listImages } from './images.ts'

/**
 * A file that a mirror serves. Its URL is the mirror's address followed by `path`. The path of an upstream
 * file starts with the host name of its download site, so one mirror can hold all sites. Archives of images
 * are below `images/`.
 */
export type Publication =
  | { readonly kind: 'file'; readonly path: string; readonly program: string }
  | {
      readonly kind: 'archive'
      readonly path: string
      /** Path of each program inside the archive. */
      readonly members: Readonly<Record<string, string>>
    }
  | { readonly kind: 'image'; readonly path: string; readonly image: Image }
  | {
      readonly kind: 'checksum'
      readonly path: string
      readonly of: string
      /**
       * `bare` is the digest alone, `line` is the format of sha256sum, `binary` is that format with a star
       * before the file name.
       */
      readonly style: 'bare' | 'line' | 'binary'
    }

export function listPublications(part: Part, arch: Arch): readonly Publication[] {
  const images = listImages(part).flatMap((image): Publication[] => {
    const path = formatImagePath(image.name)
    return [
      { kind: 'image', path, image },
      { kind: 'checksum', path: `${path}.sha256`, of: path, style: 'bare' },
    ]
  })
  return [...listArtifacts(part, arch), ...images]
}

function listArtifacts(part: Part, arch: Arch): readonly Publication[] {
  const { name, version, os } = part
  const bare = version.slice(1)
  switch (name) {
    case 'kubernetes':
      return part.programs.flatMap((program) => {
        const path = `dl.k8s.io/release/${version}/bin/${os}/${arch}/${formatProgramFile(part, program)}`
        return [
          { kind: 'file', path, program: program.name },
          { kind: 'checksum', path: `${path}.sha256`, of: path, style: 'bare' },
        ]
      })
    case 'etcd': {
      const folder = `etcd-${version}-${os}-${arch}`
      const release = formatGithubRelease('etcd-io/etcd', version)
      const path = `${release}/${folder}.tar.gz`
      return [
        defineArchive(part, path, (file) => `${folder}/${file}`),
        { kind: 'checksum', path: `${release}/SHA256SUMS`, of: path, style: 'line' },
      ]
    }
    case 'containerd': {
      const path = `${formatGithubRelease('containerd/containerd', version)}/containerd-${bare}-${os}-${arch}.tar.gz`
      return [
        defineArchive(part, path, (file) => `bin/${file}`),
        { kind: 'checksum', path: `${path}.sha256sum`, of: path, style: 'line' },
      ]
    }
    case 'runc': {
      const release = formatGithubRelease('opencontainers/runc', version)
      const path = `${release}/runc.${arch}`
      return [
        { kind: 'file', path, program: 'runc' },
        { kind: 'checksum', path: `${release}/runc.sha256sum`, of: path, style: 'binary' },
      ]
    }
    case 'cni-plugins': {
      const path = `${formatGithubRelease('containernetworking/plugins', version)}/cni-plugins-${os}-${arch}-${version}.tgz`
      return [
        defineArchive(part, path, (file) => `./${file}`),
        { kind: 'checksum', path: `${path}.sha256`, of: path, style: 'line' },
      ]
    }
    case 'flannel': {
      // flannel's releases have no checksum files, so none is published here.
      const release = formatGithubRelease('flannel-io/flannel', version)
      const file = os === 'windows' ? 'flanneld.exe' : `flanneld-${arch}`
      return [{ kind: 'file', path: `${release}/${file}`, program: 'flanneld' }]
    }
    case 'kube-router': {
      const release = formatGithubRelease('cloudnativelabs/kube-router', version)
      const path = `${release}/kube-router_${bare}_${os}_${arch}.tar.gz`
      return [
        defineArchive(part, path, (file) => file),
        { kind: 'checksum', path: `${release}/kube-router_${bare}_checksums.txt`, of: path, style: 'line' },
      ]
    }
    case 'crictl': {
      const path = `${formatGithubRelease('kubernetes-sigs/cri-tools', version)}/crictl-${version}-${os}-${arch}.tar.gz`
      return [
        defineArchive(part, path, (file) => file),
        { kind: 'checksum', path: `${path}.sha256`, of: path, style: 'bare' },
      ]
    }
    case 'helm': {
      const path = `get.helm.sh/helm-${version}-${os}-${arch}.tar.gz`
      return [
        defineArchive(part, path, (file) => `${os}-${arch}/${file}`),
        { kind: 'checksum', path: `${path}.sha256sum`, of: path, style: 'line' },
      ]
    }
    case 'e2e': {
      const path = `dl.k8s.io/${version}/kubernetes-test-${os}-${arch}.tar.gz`
      return [
        defineArchive(part, path, (file) => `kubernetes/test/bin/${file}`),
        { kind: 'checksum', path: `${path}.sha256`, of: path, style: 'bare' },
      ]
    }
    default:
      // Other parts are not published for download: they are used only inside an image, or only on the
      // machine that runs the lab.
      return []
  }
}

function formatGithubRelease(repository: string, version: string): string {
  return `github.com/${repository}/releases/download/${version}`
}

function defineArchive(part: Part, path: string, toMember: (file: string) => string): Publication {
  const members = part.programs.map(
    (program) => [program.name, toMember(formatProgramFile(part, program))] as const,
  )
  return { kind: 'archive', path, members: Object.fromEntries(members) }
}
