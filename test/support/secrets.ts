import type { Host } from '../../lab/hosts/host.ts'
import type { Identity } from '../../src/identity/identity.ts'
import { secretFiles } from '../../src/identity/secret-files.ts'

/** Pieces of every secret of a cluster, as a log or a file would have them: lines of text, and all of it in base64. */
export function tracesOf(identity: Identity): string[] {
  return [...secretFiles(identity, []).values()].flatMap((secret) => {
    const bytes = Buffer.from(secret.reveal())
    const lines = bytes
      .toString('utf8')
      .split('\n')
      .map((line) => line.trim())
      // Beginnings and ends of PEM, and the keys of YAML, are no secrets.
      .filter(
        (line) =>
          line.length >= 24 &&
          !line.includes('-----') &&
          !line.endsWith(':') &&
          !/^(apiVersion|kind|- )/.test(line),
      )
    return [...lines.map((line) => line.replace(/^secret: /, '')), bytes.toString('base64').slice(0, 60)]
  })
}

/**
 * Where on a host any of them is, that should not have it: arguments and environments of all processes, the journal of
 * systemd, and every file that others than its owner may read. The host gets them by standard input.
 */
export async function leaksOn(host: Host, traces: readonly string[]): Promise<string[]> {
  const { stdout } = await host.exec(['sh', '-c', search], { input: traces.join('\n') })
  return stdout.split('\n').filter((line) => line !== '')
}

/** The patterns lie in memory, for root alone, while it looks. */
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
    case "$file" in *.ndjson|*.log|*/ledger.json) echo "$file tells it" ;; esac
  done
true
`
