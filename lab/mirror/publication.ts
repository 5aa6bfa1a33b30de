import type { Part } from '../components/parts.ts'
import { type Arch, programFile } from '../components/recipe.ts'
import { type Image, imagePath, imagesOf } from './images.ts'

/**
 * What a part looks like at its upstream's download site. A path starts with the site's own host name, so that
 * one mirror holds them all and a source is switched by putting the mirror's address in front.
 */
export type Publication =
  | { readonly kind: 'file'; readonly path: string; readonly program: string }
  | {
      readonly kind: 'archive'
      readonly path: string
      /** Where each program is inside the archive. */
      readonly members: Readonly<Record<string, string>>
    }
  | { readonly kind: 'image'; readonly path: string; readonly image: Image }
  | {
      readonly kind: 'checksum'
      readonly path: string
      readonly of: string
      /** `bare`: the digest alone; `line`: as sha256sum writes it; `binary`: the same with a star. */
      readonly style: 'bare' | 'line' | 'binary'
    }

export function publicationsOf(part: Part, arch: Arch): readonly Publication[] {
  const images = imagesOf(part).flatMap((image): Publication[] => {
    const path = imagePath(image.name)
    return [
      { kind: 'image', path, image },
      { kind: 'checksum', path: `${path}.sha256`, of: path, style: 'bare' },
    ]
  })
  return [...artifactsOf(part, arch), ...images]
}

function artifactsOf(part: Part, arch: Arch): readonly Publication[] {
  const { name, version, os } = part
  const bare = version.slice(1)
  switch (name) {
    case 'kubernetes':
      return part.programs.flatMap((program) => {
        const path = `dl.k8s.io/release/${version}/bin/${os}/${arch}/${programFile(part, program)}`
        return [
          { kind: 'file', path, program: program.name },
          { kind: 'checksum', path: `${path}.sha256`, of: path, style: 'bare' },
        ]
      })
    case 'etcd': {
      const folder = `etcd-${version}-${os}-${arch}`
      const release = github('etcd-io/etcd', version)
      const path = `${release}/${folder}.tar.gz`
      return [
        archive(part, path, (file) => `${folder}/${file}`),
        { kind: 'checksum', path: `${release}/SHA256SUMS`, of: path, style: 'line' },
      ]
    }
    case 'containerd': {
      const path = `${github('containerd/containerd', version)}/containerd-${bare}-${os}-${arch}.tar.gz`
      return [
        archive(part, path, (file) => `bin/${file}`),
        { kind: 'checksum', path: `${path}.sha256sum`, of: path, style: 'line' },
      ]
    }
    case 'runc': {
      const release = github('opencontainers/runc', version)
      const path = `${release}/runc.${arch}`
      return [
        { kind: 'file', path, program: 'runc' },
        { kind: 'checksum', path: `${release}/runc.sha256sum`, of: path, style: 'binary' },
      ]
    }
    case 'cni-plugins': {
      const path = `${github('containernetworking/plugins', version)}/cni-plugins-${os}-${arch}-${version}.tgz`
      return [
        archive(part, path, (file) => `./${file}`),
        { kind: 'checksum', path: `${path}.sha256`, of: path, style: 'line' },
      ]
    }
    case 'flannel': {
      // Its releases come without checksum files.
      const release = github('flannel-io/flannel', version)
      const file = os === 'windows' ? 'flanneld.exe' : `flanneld-${arch}`
      return [{ kind: 'file', path: `${release}/${file}`, program: 'flanneld' }]
    }
    case 'crictl': {
      const path = `${github('kubernetes-sigs/cri-tools', version)}/crictl-${version}-${os}-${arch}.tar.gz`
      return [
        archive(part, path, (file) => file),
        { kind: 'checksum', path: `${path}.sha256`, of: path, style: 'bare' },
      ]
    }
    case 'e2e': {
      const path = `dl.k8s.io/${version}/kubernetes-test-${os}-${arch}.tar.gz`
      return [
        archive(part, path, (file) => `kubernetes/test/bin/${file}`),
        { kind: 'checksum', path: `${path}.sha256`, of: path, style: 'bare' },
      ]
    }
    default:
      // Runs only as an image, or only on the machine.
      return []
  }
}

function github(repository: string, version: string): string {
  return `github.com/${repository}/releases/download/${version}`
}

function archive(part: Part, path: string, place: (file: string) => string): Publication {
  const members = part.programs.map((program) => [program.name, place(programFile(part, program))] as const)
  return { kind: 'archive', path, members: Object.fromEntries(members) }
}
