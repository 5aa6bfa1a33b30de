import type { Cluster } from '../spec/cluster.ts'

/** Builds one hosts.toml per registry that has mirrors. */
export function renderRegistryHosts({ spec }: Cluster): (readonly [host: string, text: string])[] {
  return spec.registries
    .filter(({ mirrors }) => mirrors.length > 0)
    .map(({ host, mirrors }) => [host, renderHostsToml(mirrors)] as const)
}

function renderHostsToml(mirrors: readonly string[]): string {
  return mirrors
    .map((mirror) => `[host.${JSON.stringify(mirror)}]\n  capabilities = ["pull", "resolve"]\n`)
    .join('\n')
}
