import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { secretFiles } from '../../src/identity/secret-files.ts'
import type { UpCluster } from './up-cluster.ts'

export async function expectNoLeaks(cluster: UpCluster): Promise<void> {
  const traces = listSecretTraces(cluster.identity)
  expect(traces.length).toBeGreaterThan(15)
  const output = cluster.firstUp.stderr + cluster.firstUp.stdout + (await readAllFiles(cluster.directory))
  expect(traces.filter((trace) => output.includes(trace))).toEqual([])
  for (const host of cluster.hosts) expect(await findLeaks(host, traces), host.name).toEqual([])
}

/**
 * Lists parts of every secret of a cluster as they would appear in a log or file: lines of text, and base64.
 */
function listSecretTraces(identity: Identity): string[] {
  return [...secretFiles(identity).values()].flatMap((secret) => {
    const bytes = Buffer.from(secret.reveal())
    const lines = bytes
      .toString('utf8')
      .split('\n')
      .map((line) => line.trim())
      // PEM headers and YAML keys are not secret.
      .filter(
        (line) =>
          line.length >= 24 &&
          !line.includes('-----') &&
          !line.endsWith(':') &&
          !/^(apiVersion|kind|- )/.test(line),
      )
    // The first characters of a key are the same for all keys of its kind, such as the key of a kubeconfig.
    const encoded = bytes.toString('base64').slice(104, 160)
    return [...lines.map((line) => line.replace(/^secret: /, '')), encoded]
  })
}

/**
 * Finds secrets in wrong places on a host: process arguments and environments, the systemd journal, and files
 * readable by others. The host gets the patterns on standard input.
 */
async function findLeaks(host: Host, traces: readonly string[]): Promise<string[]> {
  const { stdout } = await host.exec(['sh', '-c', search], { input: traces.join('\n') })
  return stdout.split('\n').filter((line) => line !== '')
}

/** Script that searches for the patterns. It keeps them in memory, readable only by root. */
const search = `
umask 077
patterns=$(mktemp /dev/shm/XXXXXX)
trap 'rm -f "$patterns"' EXIT
cat > "$patterns"
for file in /proc/[0-9]*/cmdline /proc/[0-9]*/environ; do
  tr '\\0' '\\n' < "$file" 2>/dev/null | grep -qFf "$patterns" && echo "$file"
done
journalctl --no-pager 2>/dev/null | grep -qFf "$patterns" && echo 'the journal of systemd'
find /etc /var /run /opt /tmp /root /home -xdev -type f -size -4M -exec grep -lFf "$patterns" {} + 2>/dev/null |
  while read -r file; do
    case "$(stat -c %a "$file")" in *00) ;; *) echo "$file can be read by others" ;; esac
    case "$file" in *.ndjson|*.log|*/ledger.json) echo "$file contains it" ;; esac
  done
true
`

/** Reads all files that commands left in the operator's directory. */
async function readAllFiles(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return (
    await Promise.all(files.map(async ({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
  ).join('\n')
}
