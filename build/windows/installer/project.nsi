# The Windows installer. scripts/package windows runs makensis on it; `wails build --target windows/amd64 --nsis` works
# too. Both write wails_tools.nsh beside this file, with the names and the version from wails.json and the macros used
# below. It installs for one user, without administrator rights, and keeps the conversations when it is removed.
Unicode true

!define REQUEST_EXECUTION_LEVEL "user"
!define WAILS_INSTALL_SCOPE "user"
!include "wails_tools.nsh"

VIProductVersion "${INFO_PRODUCTVERSION}.0"
VIFileVersion "${INFO_PRODUCTVERSION}.0"
VIAddVersionKey "CompanyName" "${INFO_COMPANYNAME}"
VIAddVersionKey "FileDescription" "${INFO_PRODUCTNAME} Installer"
VIAddVersionKey "ProductVersion" "${INFO_PRODUCTVERSION}"
VIAddVersionKey "FileVersion" "${INFO_PRODUCTVERSION}"
VIAddVersionKey "LegalCopyright" "${INFO_COPYRIGHT}"
VIAddVersionKey "ProductName" "${INFO_PRODUCTNAME}"

ManifestDPIAware true

!include "MUI.nsh"
!define MUI_ICON "..\icon.ico"
!define MUI_UNICON "..\icon.ico"
!define MUI_FINISHPAGE_NOAUTOCLOSE
!define MUI_ABORTWARNING
!insertmacro MUI_PAGE_WELCOME
!insertmacro MUI_PAGE_LICENSE "..\..\..\LICENSE"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

Name "${INFO_PRODUCTNAME}"
!ifndef ARG_OUTFILE
  !define ARG_OUTFILE "..\..\bin\${INFO_PROJECTNAME}-${ARCH}-installer.exe"
!endif
OutFile "${ARG_OUTFILE}"
InstallDir "$LOCALAPPDATA\Programs\${INFO_PRODUCTNAME}"
ShowInstDetails show

Function .onInit
  !insertmacro wails.checkArchitecture
FunctionEnd

Section
  !insertmacro wails.setShellContext
  !insertmacro wails.webview2runtime
  SetOutPath $INSTDIR
  !insertmacro wails.files
  File "/oname=LICENSE.txt" "..\..\..\LICENSE"
  !ifdef ARG_NOTICES
    File "/oname=third-party-licences.txt" "${ARG_NOTICES}"
  !endif
  !insertmacro wails.associateFiles
  # The macro does not quote the program's path, which would fail with a space in the folder's name.
  WriteRegStr SHELL_CONTEXT "Software\Classes\ContextInfinity.Bundle\shell\open\command" "" '"$INSTDIR\${PRODUCT_EXECUTABLE}" "%1"'
  CreateShortcut "$SMPROGRAMS\${INFO_PRODUCTNAME}.lnk" "$INSTDIR\${PRODUCT_EXECUTABLE}"
  CreateShortcut "$DESKTOP\${INFO_PRODUCTNAME}.lnk" "$INSTDIR\${PRODUCT_EXECUTABLE}"
  !insertmacro wails.writeUninstaller
SectionEnd

Section "uninstall"
  !insertmacro wails.setShellContext
  # The web view's cache is removed; the data directory with the conversations stays.
  RMDir /r "$AppData\${PRODUCT_EXECUTABLE}"
  # File by file, because the user chose the folder, and it may contain other files.
  Delete "$INSTDIR\${PRODUCT_EXECUTABLE}"
  Delete "$INSTDIR\LICENSE.txt"
  Delete "$INSTDIR\third-party-licences.txt"
  !insertmacro wails.unassociateFiles
  Delete "$SMPROGRAMS\${INFO_PRODUCTNAME}.lnk"
  Delete "$DESKTOP\${INFO_PRODUCTNAME}.lnk"
  !insertmacro wails.deleteUninstaller
  RMDir "$INSTDIR"
SectionEnd
