import { posix } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import type { AdoptedComponent, Mount } from './observation.ts'
import { componentNames, type HostSection } from './host-script.ts'

/**
 * Parses a command line to flags without dashes. Values of a repeated flag are joined by commas. A flag
 * without a value is true.
 */
export function parseFlags(words: readonly string[]): Record<string, string> {
  const flags = new Map<string, string>()
  let open: string | undefined
  const add = (name: string, value: string): void => {
    const previous = flags.get(name)
    flags.set(name, previous === undefined ? value : `${previous},${value}`)
  }
  for (const word of words) {
    const [, name, value] = /^--?([A-Za-z0-9][A-Za-z0-9_.-]*)(?:=(.*))?$/s.exec(word) ?? []
    if (name === undefined) {
      if (open !== undefined) add(open, word)
      open = undefined
      continue
    }
    if (open !== undefined) add(open, 'true')
    open = value === undefined ? name : undefined
    if (value !== undefined) add(name, value)
  }
  if (open !== undefined) add(open, 'true')
  return Object.fromEntries(flags)
}

const staticPod = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    containers: z
      .array(
        z.looseObject({
          name: z.string().default(''),
          image: z.string().default(''),
          command: z.array(z.string()).default([]),
          args: z.array(z.string()).default([]),
          env: z.array(z.looseObject({ name: z.string() })).default([]),
          volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
        }),
      )
      .min(1),
    initContainers: z.array(z.looseObject({ name: z.string().default('') })).default([]),
    volumes: z
      .array(z.looseObject({ name: z.string(), hostPath: z.looseObject({ path: z.string() }).optional() }))
      .default([]),
  }),
})

export interface StaticPods {
  readonly components: readonly AdoptedComponent[]
  readonly others: readonly string[]
}

/** Manifest that kubeadm writes for a component. hyperkube moves only this file. */
export function buildManifestPath(component: string): string {
  return `/etc/kubernetes/manifests/${component}.yaml`
}

/**
 * Reads the manifests of static pods. The kubelet reads every file in the directory, whatever its name. A file
 * that is no pod is listed by its path.
 */
export function readStaticPods(files: readonly HostSection[]): StaticPods {
  const pods = files.map(({ name: file, text }) => ({ file, pod: staticPod.safeParse(parseYaml(text)).data }))
  const components = pods.flatMap(({ file, pod }) => {
    const containers = pod?.spec.containers ?? []
    const program = pod?.metadata.name
    const container =
      containers.find(({ command: [path = ''] }) => posix.basename(path) === program) ??
      containers.find(({ name }) => name === program) ??
      containers[0]
    if (pod === undefined || container === undefined || !componentNames.includes(pod.metadata.name)) return []
    const others = [...containers.filter((one) => one !== container), ...pod.spec.initContainers]
    const hostPaths = new Map(pod.spec.volumes.map(({ name, hostPath }) => [name, hostPath?.path]))
    return [
      {
        name: pod.metadata.name,
        runsAs: 'static-pod' as const,
        file,
        image: container.image,
        args: parseFlags([...container.command.slice(1), ...container.args]),
        ...(others.length === 0 ? {} : { otherContainers: others.map(({ name }) => name) }),
        ...(container.env.length === 0
          ? {}
          : { environment: container.env.map((variable) => variable.name) }),
        mounts: container.volumeMounts.flatMap(({ name, mountPath }): Mount[] => {
          const host = hostPaths.get(name)
          return host === undefined ? [] : [{ host, path: mountPath }]
        }),
      },
    ]
  })
  const others = pods
    .map(({ file, pod }) => pod?.metadata.name ?? file)
    .filter((name) => !components.some((component) => component.name === name))
  return { components, others }
}

const containerParts = z.tuple([
  z.string(),
  z.array(z.string()).nullable(),
  z.array(z.looseObject({ Source: z.string().default(''), Destination: z.string().default('') })),
  z.string(),
  z.boolean(),
])

/** Reads the lines of `docker inspect`, one for each container. Lines of other containers are ignored. */
export function readContainers(text: string): AdoptedComponent[] {
  return text.split('\n').flatMap((line) => {
    const parsed = containerParts.safeParse(parseJsonValues(line))
    if (!parsed.success) return []
    const [path, args, mounts, image, running] = parsed.data
    const name = path.replace(/^\//, '')
    if (!componentNames.includes(name)) return []
    return [
      {
        name,
        runsAs: 'container' as const,
        image,
        args: parseFlags(args ?? []),
        mounts: mounts.map(({ Source, Destination }) => ({ host: Source, path: Destination })),
        running,
      },
    ]
  })
}

/** Parses JSON values that are separated by spaces. Returns an empty list if a value is invalid. */
function parseJsonValues(line: string): unknown[] {
  // Values of docker inspect have no spaces outside of strings.
  const values = line.match(/(?:"(?:[^"\\]|\\.)*"|[^\s"])+/g) ?? []
  try {
    return values.map((value): unknown => JSON.parse(value))
  } catch {
    return []
  }
}

export function parseYaml(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

/** Translates a path inside of a component to the path on its host. */
export function toHostPath({ mounts }: Pick<AdoptedComponent, 'mounts'>, path: string): string {
  const mount = mounts
    .filter((one) => path === one.path || path.startsWith(`${one.path.replace(/\/$/, '')}/`))
    .toSorted((a, b) => b.path.length - a.path.length)[0]
  return mount === undefined
    ? path
    : `${mount.host.replace(/\/$/, '')}${path.slice(mount.path.replace(/\/$/, '').length)}`
}
