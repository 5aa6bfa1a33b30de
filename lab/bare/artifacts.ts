import { partId } from '../engine/parts.ts'
import type { Arch } from '../engine/recipe.ts'
import { parts, type KubernetesVersion } from '../engine/parts.ts'
import { imagePath } from '../mirror/images.ts'
import { publicationsOf } from '../mirror/publication.ts'

/** The versions that run together, by Kubernetes minor. */
export interface Versions {
  readonly kubernetes: KubernetesVersion
  readonly etcd: string
  readonly pause: string
}

export function versionsFor(kubernetes: KubernetesVersion): Versions {
  return { kubernetes, etcd: kubernetes === 'v1.37.1' ? 'v3.7.3' : 'v3.6.16', pause: 'v3.10.2' }
}

export const testImage = 'registry.k8s.io/e2e-test-images/agnhost:2.66.1'

export function pauseImage(versions: Versions): string {
  return `registry.k8s.io/pause:${versions.pause.slice(1)}`
}

/** One thing a host fetches from the mirror, and what becomes of it there. */
export interface Fetch {
  readonly path: string
  /** A program is put in place, an archive unpacked, an image kept for containerd. */
  readonly into: { readonly file: string } | { readonly directory: string; readonly strip: number }
}

export function programFetch(part: string, program: string, arch: Arch): Fetch {
  const publication = publicationsOf(findPart(part), arch).find(
    (one) => one.kind === 'file' && one.program === program,
  )
  if (publication === undefined) throw new Error(`${part} does not publish ${program}`)
  return { path: publication.path, into: { file: `/usr/local/bin/${program}` } }
}

export function archiveFetch(part: string, directory: string, strip: number, arch: Arch): Fetch {
  const publication = publicationsOf(findPart(part), arch).find(({ kind }) => kind === 'archive')
  if (publication === undefined) throw new Error(`${part} does not publish an archive`)
  return { path: publication.path, into: { directory, strip } }
}

export const imageDirectory = '/var/lib/lab-images'

export function imageFetch(name: string): Fetch {
  const path = imagePath(name)
  return { path, into: { file: `${imageDirectory}/${path.replaceAll('/', '_')}` } }
}

/** What every node needs to run pods, whoever sets it up. */
export function nodeFetches(versions: Versions, arch: Arch): Fetch[] {
  return [
    archiveFetch('containerd@v2.3.7', '/usr/local/bin', 1, arch),
    programFetch('runc@v1.5.2', 'runc', arch),
    archiveFetch('cni-plugins@v1.9.1', '/opt/cni/bin', 0, arch),
    programFetch('flannel@v0.28.7', 'flanneld', arch),
    programFetch(`kubernetes@${versions.kubernetes}`, 'kubelet', arch),
    imageFetch(pauseImage(versions)),
    imageFetch(testImage),
  ]
}

/** A script that fetches all of it at once. */
export function fetchScript(mirror: string, fetches: readonly Fetch[]): string {
  const jobs = fetches.map(({ path, into }) => {
    const get = `curl -fsS --retry 3 ${mirror}/${path}`
    return 'file' in into
      ? `(mkdir -p "$(dirname ${into.file})"; ${get} -o ${into.file}; chmod 755 ${into.file}) & jobs="$jobs $!"`
      : `(mkdir -p ${into.directory}; ${get} | tar -xz --strip-components=${into.strip} -C ${into.directory}) & jobs="$jobs $!"`
  })
  return `jobs=\n${jobs.join('\n')}\nfor job in $jobs; do wait "$job"; done\n`
}

function findPart(id: string): (typeof parts)[number] {
  const part = parts.find((one) => partId(one) === id)
  if (part === undefined) throw new Error(`there is no part ${id}`)
  return part
}
