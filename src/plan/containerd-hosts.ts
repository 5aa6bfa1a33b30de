import type { Cluster } from '../spec/cluster.ts'

/** Which addresses stand in for a registry, as containerd wants to be told: one file for each registry. */
export function containerdHosts({ spec }: Cluster): (readonly [host: string, text: string])[] {
  return spec.registries
    .filter(({ mirrors }) => mirrors.length > 0)
    .map(({ host, mirrors }) => [host, hostsToml(mirrors)] as const)
}

function hostsToml(mirrors: readonly string[]): string {
  return mirrors
    .map((mirror) => `[host.${JSON.stringify(mirror)}]\n  capabilities = ["pull", "resolve"]\n`)
    .join('\n')
}
