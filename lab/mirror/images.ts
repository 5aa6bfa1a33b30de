import type { Part } from '../engine/parts.ts'

/** An image is one layer of programs that need nothing else, as upstream's own are. */
export interface Image {
  readonly name: string
  /** Programs of the part, by the place where each is in the image. */
  readonly programs: Readonly<Record<string, string>>
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  /** Adds a shell and the usual small tools, from the machine's static busybox. */
  readonly busybox: boolean
  /** Small files of the image itself: path to contents. */
  readonly files: Readonly<Record<string, string>>
  /** Who its process is, if not root. */
  readonly user: string
  /** Programs of the machine that go in with the libraries they need. */
  readonly machinePrograms: readonly string[]
}

const kubernetesRegistry = 'registry.k8s.io'
const testRegistry = `${kubernetesRegistry}/e2e-test-images`

/** What upstream's conformance suite runs besides agnhost, as far as a busybox does the same. */
const testImages: readonly Image[] = [
  image(`${testRegistry}/busybox:1.37.0-2`, {}, { command: ['sh'], busybox: true }),
  image(`${testRegistry}/nonroot:1.5`, {}, { command: ['id', '-u'], busybox: true, user: '1234' }),
  ...['nautilus', 'kitten'].map((animal) =>
    image(
      `${testRegistry}/${animal}:1.8`,
      {},
      {
        command: ['httpd', '-f', '-p', '80', '-h', '/www'],
        busybox: true,
        files: { 'www/data.json': `{ "image": "${animal}.jpg" }\n` },
      },
    ),
  ),
]

export function imagesOf(part: Part): readonly Image[] {
  if (part.os !== 'linux') return []
  const { name, version } = part
  const bare = version.slice(1)
  switch (name) {
    case 'kubernetes':
      return ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kube-proxy'].map((program) =>
        image(
          `${kubernetesRegistry}/${program}:${version}`,
          { [program]: `usr/local/bin/${program}` },
          {
            entrypoint: [],
            machinePrograms: program === 'kube-proxy' ? ['nft', 'conntrack'] : [],
          },
        ),
      )
    case 'etcd':
      return [
        image(
          `${kubernetesRegistry}/etcd:${bare}-0`,
          Object.fromEntries(part.programs.map((program) => [program.name, `usr/local/bin/${program.name}`])),
          { entrypoint: [] },
        ),
      ]
    case 'pause':
      return [image(`${kubernetesRegistry}/pause:${bare}`, { pause: 'pause' })]
    case 'agnhost':
      // The second is the older one that upstream's suite upgrades from.
      return [bare, '2.55'].map((tag) =>
        image(
          `${testRegistry}/agnhost:${tag}`,
          { agnhost: 'agnhost' },
          { command: ['pause'], busybox: true },
        ),
      )
    case 'e2e':
      return testImages
    case 'coredns':
      return [image(`${kubernetesRegistry}/coredns/coredns:${version}`, { coredns: 'coredns' })]
    case 'metrics-server':
      return [
        image(`${kubernetesRegistry}/metrics-server/metrics-server:${version}`, {
          'metrics-server': 'metrics-server',
        }),
      ]
    case 'traefik':
      return [image(`docker.io/library/traefik:${version}`, { traefik: 'usr/local/bin/traefik' })]
    case 'local-path-provisioner':
      return [
        image(`docker.io/rancher/local-path-provisioner:${version}`, {
          'local-path-provisioner': 'usr/bin/local-path-provisioner',
        }),
      ]
    default:
      return []
  }
}

/** Where a mirror keeps an image's archive. */
export function imagePath(name: string): string {
  return `images/${name.replace(/:(?=[^/]*$)/, '/')}.tar`
}

type Extra = Partial<Pick<Image, 'entrypoint' | 'command' | 'busybox' | 'files' | 'user' | 'machinePrograms'>>

function image(name: string, programs: Readonly<Record<string, string>>, extra: Extra = {}): Image {
  return {
    name,
    programs,
    entrypoint: Object.values(programs)
      .slice(0, 1)
      .map((path) => `/${path}`),
    command: [],
    busybox: false,
    files: {},
    user: '',
    machinePrograms: [],
    ...extra,
  }
}
