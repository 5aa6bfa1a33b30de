import { type KubernetesVersion, formatPartId, parts, selectParts } from '../components/parts.ts'
import type { Arch } from '../components/recipe.ts'
import { formatImagePath } from '../mirror/images.ts'
import { listPublications } from '../mirror/publication.ts'

/** Versions of Kubernetes, etcd and the pause image that are used together. */
export interface Versions {
  readonly kubernetes: KubernetesVersion
  readonly etcd: string
  readonly pause: string
}

const etcdVersions: Readonly<Record<KubernetesVersion, string>> = {
  'v1.37.1': 'v3.7.3',
  'v1.36.4': 'v3.6.16',
  'v1.35.8': 'v3.6.16',
  'v1.34.10': 'v3.6.16',
  'v1.33.13': 'v3.5.35',
  'v1.32.5': 'v3.5.35',
}

export function selectVersions(kubernetes: KubernetesVersion): Versions {
  return { kubernetes, etcd: etcdVersions[kubernetes], pause: 'v3.10.2' }
}

export const testImage = 'registry.k8s.io/e2e-test-images/agnhost:2.66.1'

export function pauseImage(versions: Versions): string {
  return `registry.k8s.io/pause:${versions.pause.slice(1)}`
}

/** One file that a host downloads from the mirror, and its destination on the host. */
export interface Fetch {
  readonly path: string
  /**
   * Destination on the host: `file` for a program or an image, `directory` for an archive, which is unpacked
   * there.
   */
  readonly into: { readonly file: string } | { readonly directory: string; readonly strip: number }
}

export function programFetch(part: string, program: string, arch: Arch): Fetch {
  const publication = listPublications(findPart(part), arch).find(
    (candidate) => candidate.kind === 'file' && candidate.program === program,
  )
  if (publication === undefined) throw new Error(`${part} does not publish ${program}`)
  return { path: publication.path, into: { file: `/usr/local/bin/${program}` } }
}

export function archiveFetch(part: string, directory: string, strip: number, arch: Arch): Fetch {
  const publication = listPublications(findPart(part), arch).find(({ kind }) => kind === 'archive')
  if (publication === undefined) throw new Error(`${part} does not publish an archive`)
  return { path: publication.path, into: { directory, strip } }
}

export const imageDirectory = '/var/lib/lab-images'

export function imageFetch(name: string): Fetch {
  const path = formatImagePath(name)
  return { path, into: { file: `${imageDirectory}/${path.replaceAll('/', '_')}` } }
}

/**
 * Lists the downloads that every node needs to run pods, independent of the tool that sets up the cluster.
 */
export function nodeFetches(versions: Versions, arch: Arch): Fetch[] {
  return [
    archiveFetch('containerd@v2.3.7', '/usr/local/bin', 1, arch),
    programFetch('runc@v1.5.2', 'runc', arch),
    archiveFetch('cni-plugins@v1.9.1', '/opt/cni/bin', 0, arch),
    programFetch('flannel@v0.28.7', 'flanneld', arch),
    archiveFetch('kube-router@v2.10.0', '/usr/local/bin', 0, arch),
    programFetch(`kubernetes@${versions.kubernetes}`, 'kubelet', arch),
    imageFetch(pauseImage(versions)),
    imageFetch(testImage),
  ]
}

/**
 * Digests by path, from the mirror's checksum files. Files for which upstream publishes no checksum are not
 * listed.
 */
export type Digests = ReadonlyMap<string, string>

export async function readDigests(mirror: string, arch: Arch): Promise<Digests> {
  const published = selectParts().flatMap((part) => listPublications(part, arch))
  const checksums = published.filter((publication) => publication.kind === 'checksum')
  return new Map(
    await Promise.all(
      checksums.map(async ({ path, of }) => {
        const text = await (await fetch(`${mirror}/${path}`)).text()
        return [of, text.slice(0, 64)] as const
      }),
    ),
  )
}

/** Builds a script that downloads all files in parallel and fails on a wrong digest. */
export function fetchScript(
  { mirror, digests }: { mirror: string; digests: Digests },
  fetches: readonly Fetch[],
): string {
  const jobs = fetches.map(({ path, into }, index) => {
    const target = 'file' in into ? into.file : `/var/tmp/fetched-${index}`
    const digest = digests.get(path)
    const commands = [
      `mkdir -p "$(dirname ${target})"`,
      `curl -fsS --retry 3 ${mirror}/${path} -o ${target}`,
      ...(digest === undefined ? [] : [`echo "${digest}  ${target}" | sha256sum --check --quiet`]),
      ...('file' in into
        ? [`chmod 755 ${target}`]
        : [
            `mkdir -p ${into.directory}`,
            `tar -xzf ${target} --strip-components=${into.strip} -C ${into.directory}`,
            `rm ${target}`,
          ]),
    ]
    return `(${commands.join(' && ')}) & jobs="$jobs $!"`
  })
  return `jobs=\n${jobs.join('\n')}\nfor job in $jobs; do wait "$job"; done\n`
}

function findPart(id: string): (typeof parts)[number] {
  const part = parts.find((candidate) => formatPartId(candidate) === id)
  if (part === undefined) throw new Error(`there is no part ${id}`)
  return part
}
