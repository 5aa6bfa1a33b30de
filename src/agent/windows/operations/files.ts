import { z } from 'zod'
import { changing, instant, looking, one, path } from './operation.ts'

const facts = z
  .object({
    Kind: z.enum(['file', 'directory']),
    Length: z.int(),
    LastWriteTimeUtc: instant,
  })
  .transform((raw) => ({ kind: raw.Kind, size: raw.Length, modified: raw.LastWriteTimeUtc }))

const at = z.strictObject({ path })

/** Files, and who may do what with them. Large ones never travel: whoever fetches them writes them. */
export const files = {
  stat: looking({ name: 'files.stat', input: at, output: one(facts), uses: ['Get-Item'] }),
  /** Of a program it takes seconds. */
  digest: looking({
    name: 'files.digest',
    input: at,
    output: one(
      z.object({ Hash: z.string().regex(/^[0-9A-Fa-f]{64}$/) }).transform(({ Hash }) => Hash.toLowerCase()),
    ),
    uses: ['Test-Path', 'Get-FileHash'],
    within: 120_000,
  }),
  read: looking({
    name: 'files.read',
    input: at,
    output: one(z.object({ Text: z.string() }).transform(({ Text }) => Text)),
    uses: ['Test-Path', '[IO.File]::ReadAllText'],
  }),
  /** There as a whole or not at all; in UTF-8, and without the mark that Windows likes to begin it with. */
  write: changing({
    name: 'files.write',
    input: z.strictObject({ path, text: z.string().max(1_000_000) }),
    uses: ['Test-Path', '[IO.File]::WriteAllText', '[IO.File]::Replace', '[IO.File]::Move'],
  }),
  /** To where nothing is. A program that runs can be moved, though neither overwritten nor removed. */
  move: changing({
    name: 'files.move',
    input: z.strictObject({ from: path, to: path }),
    uses: ['[IO.File]::Move'],
  }),
  /** One that is not there is no mistake. */
  remove: changing({ name: 'files.remove', input: at, uses: ['[IO.File]::Delete'] }),
  /** Who may enter, in the words of Windows: SDDL. */
  access: looking({
    name: 'files.access',
    input: at,
    output: one(z.object({ Sddl: z.string() }).transform(({ Sddl }) => Sddl)),
    uses: ['Test-Path', 'Get-Acl'],
  }),
  /** As it was found once, or as the directory above says: only letters of that language. */
  grant: changing({
    name: 'files.grant',
    input: z.strictObject({
      path,
      sddl: z
        .string()
        .max(4000)
        .regex(/^[A-Za-z0-9:;()_-]+$/),
    }),
    uses: ['Get-Acl', 'Set-Acl'],
  }),
  /** From now on for the system and administrators alone, whatever the directory above says. */
  close: changing({ name: 'files.close', input: at, uses: ['Get-Acl', 'Set-Acl'] }),
}

/** What `close` leaves, with inheritance for what is below a directory. */
export const closedAccess = {
  directory: 'O:SYG:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)',
  file: 'O:SYG:SYD:PAI(A;;FA;;;SY)(A;;FA;;;BA)',
} as const
