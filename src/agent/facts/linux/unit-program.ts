/**
 * Finds the program that a service starts, from its unit and its drop-ins in systemd's order. An empty
 * ExecStart clears the previous ones.
 */
export function findStartedProgram(texts: readonly string[]): string | undefined {
  const commands: string[] = []
  for (const text of texts) {
    for (const command of text.replaceAll('\\\n', ' ').matchAll(/^\s*ExecStart\s*=(.*)$/gm)) {
      const value = (command[1] ?? '').trim()
      if (value === '') commands.length = 0
      else commands.push(value)
    }
  }
  return commands[0] === undefined ? undefined : parseProgram(commands[0])
}

/** The first word, without the prefixes that control how it is started. */
function parseProgram(command: string): string {
  const [, quoted, plain = ''] = /^[-@:+!|]*(?:"([^"]*)"|(\S+))/.exec(command) ?? []
  return quoted ?? plain
}
