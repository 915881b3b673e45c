/**
 * Imported first by what starts Braid. Windows looks for a program that is started by name in the current folder before
 * the PATH: a file named nvidia-smi.exe in a downloaded folder would run when Braid is started there. With this
 * variable it doesn't (NeedCurrentDirectoryForExePath, which libuv asks from 1.48), and child processes inherit it.
 */
process.env.NoDefaultCurrentDirectoryInExePath = '1';
