import { posix } from 'node:path'
import { z } from 'zod'
import { podSecurityLevels } from '../../spec/security.ts'
import type { AdmissionSettings, PodSecurityDefaults } from './observation.ts'
import { parseYaml } from './read-components.ts'

const names = z
  .array(z.string())
  .nullish()
  .transform((value) => value ?? [])
// An empty text is the default of Kubernetes.
const level = z
  .enum(['', ...podSecurityLevels])
  .nullish()
  .transform((value) => value || 'privileged')

const podSecurity = z.looseObject({
  kind: z.literal('PodSecurityConfiguration'),
  defaults: z
    .looseObject({ enforce: level, 'enforce-version': z.string().nullish(), audit: level, warn: level })
    .nullish(),
  exemptions: z.looseObject({ usernames: names, namespaces: names, runtimeClasses: names }).nullish(),
})

const admission = z.looseObject({
  kind: z.literal('AdmissionConfiguration'),
  plugins: z
    .array(
      z.looseObject({
        name: z.string(),
        path: z.string().nullish(),
        configuration: z.record(z.string(), z.unknown()).nullish(),
      }),
    )
    .nullish(),
})

/**
 * Reads the admission configuration of API servers. Of plugins other than PodSecurity only the names are kept. Returns
 * undefined if the content is not understood. `readFile` reads another file that the configuration names.
 */
export async function readAdmission(
  file: string,
  readFile: (path: string) => Promise<string>,
): Promise<AdmissionSettings | undefined> {
  const { data } = admission.safeParse(parseYaml(await readFile(file)))
  if (data === undefined) return undefined
  const plugins = data.plugins ?? []
  const found = plugins.find(({ name }) => name === 'PodSecurity')
  const configured = plugins.filter(({ name }) => name !== 'PodSecurity').map(({ name }) => name)
  if (found === undefined) return { plugins: configured }
  // kube-apiserver resolves a relative path from the directory of the file.
  const path = found.path ? posix.resolve(posix.dirname(file), found.path) : undefined
  const content = found.configuration ?? (path === undefined ? undefined : parseYaml(await readFile(path)))
  if (content === undefined || content === null) return { plugins: configured }
  const settings = parsePodSecurity(content)
  return settings === undefined ? undefined : { plugins: configured, podSecurity: settings }
}

function parsePodSecurity(content: unknown): PodSecurityDefaults | undefined {
  const { data } = podSecurity.safeParse(content)
  if (data === undefined) return undefined
  const { defaults, exemptions } = data
  return {
    enforce: defaults?.enforce ?? 'privileged',
    version: defaults?.['enforce-version'] || 'latest',
    audit: defaults?.audit ?? 'privileged',
    warn: defaults?.warn ?? 'privileged',
    namespaces: (exemptions?.namespaces ?? []).toSorted(),
    usernames: (exemptions?.usernames ?? []).toSorted(),
    runtimeClasses: (exemptions?.runtimeClasses ?? []).toSorted(),
  }
}
