"""Made-up issues as people write them, each with the language in which the bot should answer."""

from __future__ import annotations

TRACE = """
```
Traceback (most recent call last):
  File "/srv/app/store.py", line 88, in open
    raise StoreError("could not open the database: it is locked by another process")
StoreError: could not open the database: it is locked by another process
```
"""

LOG = "    ERROR the upload of the file has failed and will not be tried again because the server is not there\n" * 4

# As GitHub makes it of a form of which the rest was left empty.
UNFILLED = "".join(
    f"### {name}\r\n\r\n_No response_\r\n\r\n" for name in ("Steps", "Expected", "Logs", "Pictures", "More")
)

ISSUES: list[tuple[str, str, str]] = [
    ("en", "Crash when pasting an image", "The editor crashes as soon as I paste an image, and not with text."),
    ("en", "Add dark mode", ""),
    ("en", "NullPointerException in FooBar.baz", TRACE),
    ("en", "Café menu shows résumé twice", "The résumé entry of the café menu is shown two times in 3.2."),
    ("en", "El Capitan: window does not open", "It was fine with the last version."),
    ("en", "Die roll animation is wrong", "It is wrong when the die is in the corner of the table."),
    ("en", "Translate “Einstellungen” to English", "“Einstellungen” is in the menu. It should be “Settings”."),
    ("en", "日本語 text is cut off", "When a file name has 日本語 in it, it is cut off after the first letter."),
    ("en", "", ""),
    ("en", "404", "https://example.org/de/die/der/das/und/nicht"),
    ("de", "Absturz beim Einfügen eines Bildes", "Der Editor stürzt ab. Mit Text passiert das nicht."),
    ("de", "Datei lässt sich nicht öffnen", f"Seit dem letzten Update öffnet sich die Datei nicht mehr:\n{TRACE}"),
    ("de", "Fehler beim Hochladen", f"Es bricht ab, ich sehe nur das hier:\n\n{LOG}\nKann man das abschalten?"),
    ("fr", "Plantage lors du collage d'une image", "L'éditeur plante dès que je colle une image."),
    ("fr", "Impossible d'ouvrir le fichier", f"Je ne peux plus ouvrir le fichier. Voici le journal :\n{TRACE}"),
    ("fr", "Le bouton est trop petit", "Sur mon téléphone le bouton est trop petit pour le doigt."),
    ("es", "Se cierra al pegar una imagen", "El editor se cierra en cuanto pego una imagen. Con texto no pasa nada."),
    ("es", "No se puede abrir el archivo", f"Ya no puedo abrir el archivo. En el registro aparece esto:\n{TRACE}"),
    ("es", "El botón es muy pequeño", "En mi teléfono el botón es demasiado pequeño para el dedo."),
    ("zh", "粘贴图片时崩溃", "只要粘贴图片，编辑器就会崩溃。粘贴文本时没有这个问题。"),
    ("zh", "同步一直无法完成", f"在代理后面启动同步时，同步一直无法完成，也没有任何提示。日志如下：\n{TRACE}"),
    ("zh", "无法打开文件", "更新到 3.2 之后，Windows 11 上无法打开 config.yaml 文件，请问怎么解决？"),
    ("zh", "升级到1.8.3后程序崩溃", "打开config.json文件后程序立即崩溃，日志显示找不到文件。"),
    ("zh", "打开app.exe时崩溃.请问怎么解决", "打开ftp://example.org后也崩溃."),
    ("zh", "粘贴图片时崩溃", f"### What happened\n\n粘贴图片时，编辑器崩溃。\n\n{UNFILLED}"),
    ("zh", "粘贴图片时崩溃", "```TypeError: x is undefined```\n\n只要粘贴图片，编辑器就会崩溃。"),
    ("zh", "支持暗色模式", ""),
    ("zh", "無法開啟檔案", "更新之後無法開啟檔案，請問該怎麼處理？之前的版本沒有這個問題。"),
    ("ja", "同期が終わらない", f"プロキシ経由で同期を開始すると、いつまでも終わりません。\n{TRACE}"),
    ("ja", "ファイルが開けない", "3.2 に更新してから、Windows 11 で config.yaml が開けなくなりました。"),
    ("ja", "1.8.3に更新後起動しない", "1.8.3に更新してからconfig.jsonが読み込めず起動しなくなりました。"),
    ("ja", "貼り付けで落ちる", f"### What happened\r\n\r\n画像を貼り付けると落ちる。\r\n\r\n{UNFILLED}"),
    ("ja", "ダークモード対応", ""),
    # What the bot does not speak is answered in English.
    ("en", "붙여넣기할 때 충돌", "이미지를 붙여넣으면 편집기가 충돌합니다. 텍스트는 괜찮습니다."),
    ("en", "Сбой при вставке изображения", "Редактор падает, как только я вставляю изображение. С текстом такого нет."),
    ("en", "Falha ao colar uma imagem", "O editor fecha assim que eu colo uma imagem. Com texto isso não acontece."),
    ("en", "A sincronização não termina", "Quando eu inicio a sincronização, ela não termina nunca."),
    ("en", "Arresto anomalo quando si incolla un'immagine", "L'editor si chiude. Con il testo non succede."),
    ("en", "Crash bij het plakken van een afbeelding", "De editor crasht. Met tekst gebeurt dat niet."),
    ("en", "Awaria przy wklejaniu obrazu", "Edytor zamyka się, gdy tylko wkleję obraz. Z tekstem to się nie zdarza."),
    ("en", "Krasj ved innliming av bilde", "Redigeringsprogrammet krasjer. Med tekst skjer det ikke."),
    ("en", "Es bloqueja en enganxar una imatge", "L'editor es bloqueja quan enganxo una imatge. Amb text no passa."),
    # Mixed and short ones, too.
    ("en", "Error", "no"),
    ("en", "Fehler", ""),
    ("en", "Bug", "Der Button. Then I click it and it is not there, and the page is empty. Why is it so?"),
    ("en", "la la la", ""),
]
