/**
 * Windows libraries that Go programs load. Windows Server 2022 has all of them in System32; those for HCS,
 * HNS and containers require the feature Containers.
 */
const windowsLibraries = new Set(
  `advapi32 bcrypt bcryptprimitives bindfltapi cfgmgr32 cimfs computecore computenetwork computestorage crypt32 cryptbase
  dbghelp dnsapi fltlib iphlpapi kernel32 kernelbase mpr msi mswsock ncrypt netapi32 netio ntdll ole32 oleaut32 pdh powrprof
  psapi rpcrt4 sechost secur32 setupapi shell32 shlwapi user32 userenv version virtdisk vmcompute winmm winspool wintrust
  wldap32 ws2_32 wtsapi32`
    .split(/\s+/)
    .map((name) => `${name}.dll`),
)

/** True if Windows Server 2022 has the library. API sets (api-ms-win-…) stand for system libraries. */
export function isWindowsLibrary(name: string): boolean {
  return windowsLibraries.has(name) || name.startsWith('api-ms-win-')
}

/**
 * Lists the libraries in the import table of a program (Microsoft's "PE Format"). Windows loads them before
 * the program starts.
 */
export function readImports(file: Buffer): string[] {
  const pe = file.readUInt32LE(0x3c)
  if (file.toString('latin1', pe, pe + 4) !== 'PE\0\0') throw new Error('this is not a Windows program')
  const sections = file.readUInt16LE(pe + 6)
  const optional = pe + 24
  if (file.readUInt16LE(optional) !== 0x20b) throw new Error('this is not a 64-bit program')
  const table = optional + file.readUInt16LE(pe + 20)
  /** Converts an address in memory to an offset in the file. */
  const toFileOffset = (address: number): number => {
    for (let index = 0; index < sections; index++) {
      const section = table + 40 * index
      const [size, start] = [file.readUInt32LE(section + 8), file.readUInt32LE(section + 12)]
      if (address >= start && address < start + size) return address - start + file.readUInt32LE(section + 20)
    }
    throw new Error(`nothing is at ${address}`)
  }
  const directory = file.readUInt32LE(optional + 120)
  if (directory === 0) return []
  const names: string[] = []
  for (let entry = toFileOffset(directory); file.readUInt32LE(entry + 12) !== 0; entry += 20) {
    const start = toFileOffset(file.readUInt32LE(entry + 12))
    names.push(file.toString('latin1', start, file.indexOf(0, start)).toLowerCase())
  }
  return [...new Set(names)].toSorted()
}

/**
 * Finds DLLs named anywhere in a Go program, which loads most of them at run time. Go strings have no
 * terminators, so a match may begin with other text and is compared by its end. Matches without a known
 * ending are returned as `unknown`.
 */
export function findLibraryNames(file: Buffer): { readonly known: string[]; readonly unknown: string[] } {
  const known = new Set<string>()
  const unknown = new Set<string>()
  for (const [found] of file.toString('latin1').matchAll(/[\w-]{1,40}\.dll/g)) {
    const name = [...windowsLibraries]
      .filter((one) => found.toLowerCase().endsWith(one))
      .toSorted((a, b) => b.length - a.length)[0]
    if (name === undefined) unknown.add(found)
    else known.add(name)
  }
  return { known: [...known].toSorted(), unknown: [...unknown].toSorted() }
}
