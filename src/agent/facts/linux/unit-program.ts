/**
 * What a service starts: from the texts of its unit and of the pieces that go over it, in systemd's order. An empty
 * setting takes back what was said before.
 */
export function startedProgram(texts: readonly string[]): string | undefined {
  const commands: string[] = []
  for (const text of texts) {
    for (const command of text.replaceAll('\\\n', ' ').matchAll(/^\s*ExecStart\s*=(.*)$/gm)) {
      const words = (command[1] ?? '').trim()
      if (words === '') commands.length = 0
      else commands.push(words)
    }
  }
  return commands[0] === undefined ? undefined : programOf(commands[0])
}

/** The first word, without the signs before it that say how to start it. */
function programOf(command: string): string {
  const [, quoted, plain = ''] = /^[-@:+!|]*(?:"([^"]*)"|(\S+))/.exec(command) ?? []
  return quoted ?? plain
}
